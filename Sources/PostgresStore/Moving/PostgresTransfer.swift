import FeedModel
import FeedStaging
import FeedStores

/// A transaction of the store, in which another store's content is read or written.
struct PostgresTransfer: TransferReader {
    let store: PostgresStore
    let connection: PostgresConnection

    func tables(named names: Set<String>) throws -> [String: StoredTable] {
        try reading { try Catalog(connection).tables(named: names.sorted()).filter(\.value.kind.isTable) }
    }

    func count(_ table: StoredTable) throws -> Int {
        try reading { Int(try connection.execute("SELECT count(*) FROM \(relation(table))")[0].int64(0) ?? 0) }
    }

    /// Sources that never ran have no state yet, but a daemon may have claimed them.
    private func relation(_ table: StoredTable) -> String {
        table.sql + (table.name == OwnTables.sources.table.name ? " WHERE failures IS NOT NULL" : "")
    }

    func forEachRow(
        of table: StoredTable, _ columns: [String], _ body: (TransferRow) throws -> Void
    ) throws {
        try reading {
            let expressions = columns.map { name in
                let isTime = OwnTables.moved[table.name] != nil && table.column(name)?.typeName == "timestamptz"
                return isTime ? Self.storeDate(name.postgresIdentifier) : name.postgresIdentifier
            }
            let row = TransferRow()
            var types: [UInt32] = []
            try connection.forEachRow(of: "SELECT \(expressions.joined(separator: ", ")) FROM \(relation(table))") {
                found in
                if types.isEmpty { types = found.columnTypes }
                row.removeAll()
                for index in types.indices { try row.append(found, index, type: types[index]) }
                try body(row)
                return .next
            }
        }
    }

    /// A point in time in the one format of Tributary's own tables, which sorts as text.
    private static func storeDate(_ column: String) -> String {
        "to_char(\(column) AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
    }

    func requests() throws -> [RequestRow] {
        try reading {
            try connection.ledger().requests.all {
                try store.tableDetails.stands($0.schema, of: $0.tables, in: connection)
            }
        }
    }

    private func reading<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as PostgresError {
            throw StoreError(reading: error, store: store.description)
        }
    }
}

extension TransferRow {
    /// Appends a value as SQLite keeps it.
    fileprivate func append(_ row: PostgresRow, _ column: Int, type: UInt32) throws {
        if row.isNull(column) { return appendNull() }
        switch type {
        case PostgresType.smallint, PostgresType.integer, PostgresType.bigint:
            append(try row.int64(column) ?? 0)
        case PostgresType.real, PostgresType.doublePrecision: append(try row.double(column) ?? 0)
        case PostgresType.bool: append(try row.bool(column) == true ? Int64(1) : Int64(0))
        case PostgresType.bytea: try row.bytes(column)?.withUnsafeBytes { append(blob: $0) }
        case PostgresType.timestamptz, PostgresType.timestamp:
            append(text: try row.storedText(column, type: type) ?? "")
        case PostgresType.bpchar:
            // The spaces that fill it up are not part of the value.
            row.withBytes(column) { bytes in
                guard let bytes else { return }
                let end = bytes.lastIndex { $0 != UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
                append(text: UnsafeRawBufferPointer(rebasing: bytes[..<end]))
            }
        default: row.withBytes(column) { bytes in bytes.map { append(text: $0) } }
        }
    }
}
