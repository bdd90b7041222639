import FeedModel
import FeedStaging
import FeedStores
import GRDB
import GRDBSQLite

/// A transaction of the store, in which another store's content is read or written.
struct SQLiteTransfer: TransferReader {
    let store: SQLiteStore
    let db: Database

    func tables(named names: Set<String>) throws -> [String: StoredTable] {
        try names.reduce(into: [:]) { tables, name in
            guard let table = try StoredTable(db, table: name, schema: "main"), table.kind.isTable else { return }
            tables[name] = table
        }
    }

    func count(_ table: StoredTable) throws -> Int {
        try reading { try Int.fetchOne(db, sql: "SELECT count(*) FROM \(table.sql)") ?? 0 }
    }

    func forEachRow(
        of table: StoredTable, _ columns: [String], _ body: (TransferRow) throws -> Void
    ) throws {
        let names = columns.map(\.sqlIdentifier).joined(separator: ", ")
        // It lives as long as the rows are read.
        let owner = try reading { try db.makeStatement(sql: "SELECT \(names) FROM \(table.sql)") }
        try withExtendedLifetime(owner) {
            let statement = owner.sqliteStatement
            defer { sqlite3_reset(statement) }
            let row = TransferRow()
            while true {
                let code = sqlite3_step(statement)
                if code == SQLITE_DONE { return }
                guard code == SQLITE_ROW else { throw unreadable(db.lastErrorMessage ?? "SQLite's error \(code)") }
                row.removeAll()
                for index in 0..<Int32(columns.count) { row.append(column: index, of: statement) }
                try body(row)
            }
        }
    }

    func requests() throws -> [RequestRow] {
        try reading {
            try db.ledger.requests.all { try store.tableInfos.stands($0.schema, of: $0.tables, in: db) }
        }
    }

    private func reading<Value>(_ body: () throws -> Value) throws -> Value {
        try store.reading(body)
    }

    private func unreadable(_ message: String) -> StoreError {
        StoreError(.database, "the store \(store.path) cannot be read: \(message)")
    }
}

extension TransferRow {
    /// Appends a value of the row at which a statement stands.
    fileprivate func append(column index: Int32, of statement: OpaquePointer) {
        switch sqlite3_column_type(statement, index) {
        case SQLITE_INTEGER: append(sqlite3_column_int64(statement, index))
        case SQLITE_FLOAT: append(sqlite3_column_double(statement, index))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(statement, index)
            append(
                text: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(statement, index)
            append(
                blob: UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, index))))
        default: appendNull()
        }
    }
}
