package import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// The runs in their order, and what they have changed. Commits follow one another, so ids are that order.
extension SQLiteStore {
    package func runs(after position: RunPosition, limit: Int) throws -> [JournalRun] {
        try pool.read { db in
            let runs = try db.cachedStatement(sql: JournalRun.query("WHERE id > ? ORDER BY id LIMIT ?"))
            return try Row.fetchAll(runs, arguments: [position.run, limit]).map(JournalRun.init)
        }
    }

    package func run(_ id: Int64) throws -> JournalRun? {
        try pool.read { db in
            try Row.fetchOne(db, sql: JournalRun.query("WHERE id = ?"), arguments: [id]).map(JournalRun.init)
        }
    }

    package func isHeldUp(after position: RunPosition) throws -> Bool { false }

    package func changes(of run: JournalRun, after id: Int64, limit: Int) throws -> [JournalChange] {
        guard let range = run.changes, range.upperBound > id else { return [] }
        return try pool.read { db in
            let changes = try db.cachedStatement(
                sql: """
                    SELECT id, "table", key, operation FROM tributary_change
                    WHERE id > ? AND id <= ? AND run = ? ORDER BY id LIMIT ?
                    """)
            let arguments: StatementArguments = [
                max(id, range.lowerBound - 1), range.upperBound, run.position.run, limit,
            ]
            let rows = try Row.fetchCursor(changes, arguments: arguments)
            var found: [JournalChange] = []
            var bytes = 0
            while bytes < Self.mostBytesAtOnce, let row = try rows.next() {
                let change = JournalChange(id: row[0], table: row[1], key: row.storedValue(2), operation: row[3])
                bytes += change.size
                found.append(change)
            }
            return found
        }
    }

    package func journalBounds() throws -> ClosedRange<Int64>? {
        try pool.read { db in
            guard
                let row = try Row.fetchOne(
                    db,
                    sql: "SELECT (SELECT min(id) FROM tributary_change), (SELECT max(id) FROM tributary_change)"),
                let first = row[0] as Int64?, let last = row[1] as Int64?
            else { return nil }
            return first...last
        }
    }

    package func run(ofChange id: Int64) throws -> Int64? {
        try pool.read { try Int64.fetchOne($0, sql: "SELECT run FROM tributary_change WHERE id = ?", arguments: [id]) }
    }

    package func failingSources() throws -> [FailingSource] {
        try pool.read { db in
            let failing = try db.cachedStatement(
                sql: "SELECT source, failing_since, error FROM tributary_source WHERE failing_since IS NOT NULL")
            return try Row.fetchAll(failing).compactMap { row in
                StoreDate.date(row[1]).map { FailingSource(source: row[0], since: $0, error: row[2]) }
            }
        }
    }
}

extension JournalRun {
    fileprivate static func query(_ conditions: String) -> String {
        """
        SELECT id, first_change, last_change, source, started_at, seconds, outcome, inserted, updated, deleted, unchanged,
            replaced, skipped, bytes, error, kind, held, failing_since, restored, '[]' AS requests
        FROM tributary_run \(conditions)
        """
    }

    fileprivate init(_ row: Row) {
        let first: Int64? = row[1]
        let last: Int64? = row[2]
        self.init(
            position: RunPosition(run: row[0]), report: RunReport(row),
            changes: first.flatMap { first in last.flatMap { first <= $0 ? first...$0 : nil } })
    }
}

extension Row {
    /// A value as the table holds it.
    fileprivate func storedValue(_ column: Int) -> StoredValue {
        switch (self[column] as DatabaseValue).storage {
        case .null: .null
        case .int64(let number): .integer(number)
        case .double(let number): .real(number)
        case .string(let text): .text(text)
        case .blob(let data): .blob(data)
        }
    }
}
