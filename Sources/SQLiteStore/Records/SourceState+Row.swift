import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

extension SourceState {
    /// Returns the columns in the order in which they are read, by position. Reading by name takes longer than the
    /// query.
    static func columns(of alias: String) -> String {
        names.map { "\(alias).\($0)" }.joined(separator: ", ")
    }

    static let names = [
        "source", "outcome", "last_run", "last_commit", "next_due", "failures", "error", "note", "gone", "wait",
        "asked_until", "declared", "attempts", "held", "failing_since", "undone",
    ]
    static var columnCount: Int { names.count }

    init(_ row: Row) {
        self.init(
            source: row[0], outcome: (row[1] as String?).flatMap(RunOutcome.init), lastRun: StoreDate.date(row[2]),
            lastCommit: StoreDate.date(row[3]), nextDue: StoreDate.date(row[4]), failures: row[5], error: row[6],
            note: row[7])
        gone = row[8]
        wait = row[9]
        askedUntil = StoreDate.date(row[10])
        declared = row[11]
        attempts = row[12]
        isHeldBack = row[13]
        failingSince = StoreDate.date(row[14])
        undone = row[15]
    }

    func write(_ db: Database) throws {
        try db.execute(
            cached: Self.insertion,
            [
                source, outcome?.rawValue, lastRun.map(StoreDate.text), lastCommit.map(StoreDate.text),
                nextDue.map(StoreDate.text), failures, error, note, gone, wait, askedUntil.map(StoreDate.text),
                declared,
                attempts, isHeldBack, failingSince.map(StoreDate.text), undone,
            ])
    }

    private static let insertion = """
        INSERT OR REPLACE INTO main.tributary_source (\(names.joined(separator: ", ")))
        VALUES (\(names.map { _ in "?" }.joined(separator: ", ")))
        """
}
