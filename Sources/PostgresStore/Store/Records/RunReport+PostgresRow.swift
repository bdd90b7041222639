import FeedModel
import Foundation
import PostgresClient

extension RunReport {
    /// The columns in the order in which they are read, by position.
    static let postgresColumns =
        "source, outcome, \(PostgresDate.sql("started_at")), seconds, inserted, updated, deleted, unchanged, replaced, "
        + "skipped, bytes, error, requests, kind"

    init(_ row: PostgresRow) throws {
        var counts = MergeCounts()
        counts.inserted = try row.int(4) ?? 0
        counts.updated = try row.int(5) ?? 0
        counts.deleted = try row.int(6) ?? 0
        counts.unchanged = try row.int(7) ?? 0
        counts.replaced = try row.int(8) ?? 0
        let requests = row.string(12) ?? "[]"
        self.init(
            source: row.string(0) ?? "", outcome: row.string(1).flatMap(RunOutcome.init) ?? .discarded,
            startedAt: try row.date(2) ?? .distantPast, seconds: try row.double(3) ?? 0, counts: counts,
            skipped: try row.int(9) ?? 0, bytes: try row.int(10) ?? 0, error: row.string(11),
            requests: (try? JSONDecoder().decode([RequestReport].self, from: Data(requests.utf8))) ?? [])
        kind = row.string(13).flatMap(RunKind.init)
    }
}
