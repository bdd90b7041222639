import FeedModel
import PostgresClient

extension SourceState {
    /// Returns the columns in the order in which they are read, by position.
    static func postgresColumns(of alias: String) -> String {
        [
            "source", "outcome", "last_run", "last_commit", "next_due", "failures", "error", "note", "gone", "wait",
            "asked_until", "declared", "attempts", "held", "failing_since", "undone",
        ].map { PostgresDate.columns.contains($0) ? PostgresDate.sql("\(alias).\($0)") : "\(alias).\($0)" }
            .joined(separator: ", ")
    }

    static let postgresColumnCount = 16

    init(_ row: PostgresRow) throws {
        self.init(
            source: row.string(0) ?? "", outcome: row.string(1).flatMap(RunOutcome.init), lastRun: try row.date(2),
            lastCommit: try row.date(3), nextDue: try row.date(4), failures: try row.int(5) ?? 0, error: row.string(6),
            note: row.string(7))
        gone = row.string(8)
        wait = try row.double(9)
        askedUntil = try row.date(10)
        declared = row.string(11)
        attempts = try row.int(12) ?? 0
        isHeldBack = try row.bool(13) ?? false
        failingSince = try row.date(14)
        undone = row.string(15)
    }
}
