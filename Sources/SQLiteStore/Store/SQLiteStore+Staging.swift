package import FeedModel
package import FeedStaging
package import FeedStores
import Foundation
package import GRDB

/// Queries over stored and staged rows.
extension SQLiteStore {
    package func storedRow(of table: String, _ values: [(column: String, value: DatabaseValue)]) throws -> Row? {
        let isRow = values.map { "m.\($0.column.sqlIdentifier) IS ?" }
        return try pool.read { db in
            try Row.fetchOne(
                db, sql: "SELECT * FROM main.\(table.sqlIdentifier) m\(isRow.whereClause)",
                arguments: StatementArguments(values.map(\.value)))
        }
    }

    package func attachStoredTables(to scratch: Database) throws {
        try scratch.execute(sql: "ATTACH DATABASE ? AS store", arguments: [path])
    }

    /// The attached database is the store itself.
    package func provideStoredRows(_ request: StoredRowsRequest, to scratch: Database) {}

    /// The scratch database compares values as the store does.
    package func numberKeys(
        of tables: [StagingTable], inScratch path: String, _ body: (Int, Int64, Int64) throws -> Void
    ) {}

    package func rows(_ query: String, limit: Int, staged: StagedView) throws -> QueriedRows {
        let attach = { @Sendable [path = staged.database.path] (db: Database) in
            try db.execute(sql: "ATTACH DATABASE ? AS staged", arguments: [path])
        }
        do {
            return try DatabaseQueue.reading(path, prepare: attach) { db in
                let statement = try db.makeStatement(sql: query)
                guard statement.isReadonly else {
                    throw StoreError(.schema, "\"\(query)\" writes", help: "it must be a SELECT")
                }
                var found = QueriedRows(
                    columns: statement.columnNames.map { $0.lowercased() }, rows: [],
                    isOfStore: try db.readsStore(query))
                let rows = try Row.fetchCursor(statement)
                while found.rows.count < limit, let row = try rows.next() {
                    found.rows.append(
                        Dictionary(row.map { ($0.0.lowercased(), $0.1.text) }, uniquingKeysWith: { first, _ in first }))
                }
                return found
            }
        } catch let error as DatabaseError {
            // SQLite does not say which of its files has failed.
            let place = error.isOfDisk ? ", in the store \(path) or the scratch file \(staged.database.path)" : ""
            throw StoreError(
                .schema, "\"\(query)\" cannot be run: \(error.message ?? error.description)\(place)")
        }
    }
}

extension Database {
    /// Returns true if a query reads tables of the store: where its program opens a tree of the first database
    /// (https://www.sqlite.org/opcode.html), or a virtual table.
    fileprivate func readsStore(_ query: String) throws -> Bool {
        try Row.fetchAll(self, sql: "EXPLAIN \(query)").contains { step in
            step["opcode"] == "VOpen" || step["opcode"] == "OpenRead" && step["p3"] == 0
        }
    }
}

extension DatabaseValue {
    fileprivate var text: String? {
        switch storage {
        case .null: nil
        case .int64(let number): String(number)
        case .double(let number): String(number)
        case .string(let text): text
        case .blob(let data): data.map { String(format: "%02x", $0) }.joined()
        }
    }
}

/// Rows that are too old.
extension SQLiteStore {
    /// Returns true if rows have expired.
    package func hasExpiredRows(_ expiries: [Retention.Expiry]) throws -> Bool {
        try pool.read { db in
            try SQLiteDialect().hasExpiredRows(expiries, db) { try StoredTable(db, table: $0, schema: "main") }
        }
    }

    /// Returns the properties of a column by which rows expire; nil if it does not exist.
    ///
    /// - Parameter scope: the columns whose values are given.
    package func dateColumn(_ column: String, of table: String, within scope: [String]) throws -> DateColumn? {
        try pool.read { db in
            guard let info = try StoredTable(db, table: table, schema: "main"), let found = info.column(column) else {
                return nil
            }
            let indexes = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_index_list(?, 'main') WHERE NOT partial", arguments: [info.name])
            let isIndexed = try indexes.contains { index in
                let columns = try String?.fetchAll(
                    db, sql: "SELECT name FROM pragma_index_info(?, 'main') ORDER BY seqno", arguments: [index])
                return DateColumn.isServed(by: columns.map { $0 ?? "" }, found.name, within: scope)
            }
            return DateColumn(type: found.type, holdsDates: SQLiteDialect().holdsDates(found), isIndexed: isIndexed)
        }
    }
}

/// What is asked of a store to tell how it is.
extension SQLiteStore {
    package func probe() throws {
        try checkPlace()
        try probing.check()
    }

    /// The bytes of the file and of its log.
    package func size() throws -> Int64 {
        var bytes: Int64 = 0
        for path in [path, path + "-wal"] {
            var status = stat()
            if stat(path, &status) == 0 { bytes += Int64(status.st_size) }
        }
        return bytes
    }

}
