package import FeedModel
import FeedStores
import Foundation
import PostgresClient

/// The runs in their order, and what they have changed. The order is that of the transactions that recorded them. Only
/// those are read that are older than every transaction under way (`pg_snapshot_xmin`), so that none comes before them
/// later. A transaction elsewhere on the server that writes for an hour delays what is read by that hour.
extension PostgresStore {
    private static let readable = "transaction < pg_snapshot_xmin(pg_current_snapshot())"

    /// Returns the place behind all runs that can be read.
    static func lastPosition(_ connection: PostgresConnection) throws -> RunPosition {
        try connection.execute(
            "SELECT transaction, id FROM tributary_run WHERE \(readable) ORDER BY transaction DESC, id DESC LIMIT 1"
        ).first.map(RunPosition.init) ?? .start
    }

    package func runs(after position: RunPosition, limit: Int) throws -> [JournalRun] {
        try ask { connection in
            try connection.execute(
                JournalRun.query(
                    "WHERE (transaction, id) > ($1::xid8, $2::bigint) AND \(Self.readable) ORDER BY transaction, id LIMIT $3"
                ),
                position.postgresValues + [.integer(Int64(limit))]
            ).map(JournalRun.init)
        }
    }

    package func run(_ id: Int64) throws -> JournalRun? {
        try ask { connection in
            try connection.execute(JournalRun.query("WHERE id = $1"), [.integer(id)]).first.map(JournalRun.init)
        }
    }

    package func isHeldUp(after position: RunPosition) throws -> Bool {
        try ask { connection in
            try connection.execute(
                """
                SELECT EXISTS (SELECT 1 FROM tributary_run
                    WHERE (transaction, id) > ($1::xid8, $2::bigint) AND NOT \(Self.readable))
                """, position.postgresValues)[0].bool(0) ?? false
        }
    }

    package func changes(of run: JournalRun, after id: Int64, limit: Int) throws -> [JournalChange] {
        guard let range = run.changes, range.upperBound > id else { return [] }
        return try ask { connection in
            var found: [JournalChange] = []
            var bytes = 0
            try connection.forEachRow(
                of: """
                    SELECT id, "table", key, operation FROM tributary_change
                    WHERE id > $1 AND id <= $2 AND run = $3 ORDER BY id LIMIT $4
                    """,
                [
                    .integer(max(id, range.lowerBound - 1)), .integer(range.upperBound), .integer(run.position.run),
                    .integer(Int64(limit)),
                ]
            ) { row in
                let change = JournalChange(
                    id: try row.int64(0) ?? 0, table: row.string(1) ?? "",
                    key: row.string(2).map { .text($0) } ?? .null, operation: row.string(3) ?? "")
                bytes += change.size
                found.append(change)
                return bytes < Self.mostBytesAtOnce ? .next : .stop
            }
            return found
        }
    }

    package func journalBounds() throws -> ClosedRange<Int64>? {
        try ask { connection in
            let row = try connection.execute("SELECT min(id), max(id) FROM tributary_change")[0]
            guard let first = try row.int64(0), let last = try row.int64(1) else { return nil }
            return first...last
        }
    }

    package func run(ofChange id: Int64) throws -> Int64? {
        try ask { connection in
            try connection.execute("SELECT run FROM tributary_change WHERE id = $1", [.integer(id)]).first?.int64(0)
        }
    }

    package func failingSources() throws -> [FailingSource] {
        try ask { connection in
            try connection.execute(
                """
                SELECT source, \(PostgresDate.sql("failing_since")), error FROM tributary_source
                WHERE failing_since IS NOT NULL
                """
            ).compactMap { row in
                try row.date(1).map { FailingSource(source: row.string(0) ?? "", since: $0, error: row.string(2)) }
            }
        }
    }
}

extension RunPosition {
    var postgresValues: [PostgresValue?] { [.text(String(transaction)), .integer(run)] }

    /// Reads the first two columns.
    init(_ row: PostgresRow) throws {
        self.init(transaction: row.string(0).flatMap { UInt64($0) } ?? 0, run: try row.int64(1) ?? 0)
    }
}

extension JournalRun {
    fileprivate static func query(_ conditions: String) -> String {
        "SELECT transaction, id, first_change, last_change, \(RunReport.columnsForJournal) FROM tributary_run \(conditions)"
    }

    fileprivate init(_ row: PostgresRow) throws {
        let (first, last) = (try row.int64(2), try row.int64(3))
        self.init(
            position: try RunPosition(row), report: try RunReport(row, from: 4),
            changes: first.flatMap { first in last.flatMap { first <= $0 ? first...$0 : nil } })
    }
}
