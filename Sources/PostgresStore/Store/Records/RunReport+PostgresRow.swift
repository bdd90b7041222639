import FeedModel
import Foundation
import PostgresClient

extension RunReport {
    /// The columns in the order in which they are read, by position.
    static let postgresColumns = columns(requests: "requests")

    /// The same without the reports of requests.
    static let columnsForJournal = columns(requests: "'[]'")

    private static func columns(requests: String) -> String {
        "source, outcome, \(PostgresDate.sql("started_at")), seconds, inserted, updated, deleted, unchanged, replaced, "
            + "skipped, bytes, error, \(requests), held, \(PostgresDate.sql("failing_since")), kind, id, restored"
    }

    init(_ row: PostgresRow, from first: Int = 0) throws {
        var counts = MergeCounts()
        counts.inserted = try row.int(first + 4) ?? 0
        counts.updated = try row.int(first + 5) ?? 0
        counts.deleted = try row.int(first + 6) ?? 0
        counts.unchanged = try row.int(first + 7) ?? 0
        counts.replaced = try row.int(first + 8) ?? 0
        let requests = row.string(first + 12) ?? "[]"
        self.init(
            number: try row.int64(first + 16), source: row.string(first) ?? "",
            outcome: row.string(first + 1).flatMap(RunOutcome.init) ?? .discarded,
            startedAt: try row.date(first + 2) ?? .distantPast, seconds: try row.double(first + 3) ?? 0, counts: counts,
            skipped: try row.int(first + 9) ?? 0, bytes: try row.int(first + 10) ?? 0, error: row.string(first + 11),
            requests: (try? JSONDecoder().decode([RequestReport].self, from: Data(requests.utf8))) ?? [])
        isHeld = try row.bool(first + 13) ?? false
        failingSince = try row.date(first + 14)
        kind = row.string(first + 15).flatMap(RunKind.init)
        restoredRun = try row.int64(first + 17)
    }
}
