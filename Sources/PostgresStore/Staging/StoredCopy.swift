import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// The store's tables in a database that is attached to a run's scratch database, with the rows that the run has
/// queried.
struct StoredCopy {
    /// The scratch database.
    let db: Database

    static let schema = "store"
    /// Holds the names of those tables whose rows are all there.
    private static let copied = "\(schema).tributary_copied"

    /// Attaches the database, with empty tables.
    ///
    /// - Parameter file: the path of a new file that is kept; without, SQLite removes the file.
    func attach(_ tables: [StoredTable], file: String = "") throws {
        try db.execute(sql: "ATTACH DATABASE ? AS \(Self.schema)", arguments: [file])
        try db.execute(
            sql: """
                PRAGMA \(Self.schema).journal_mode = MEMORY; PRAGMA \(Self.schema).synchronous = OFF;
                CREATE TABLE \(Self.copied) (name TEXT PRIMARY KEY)
                """)
        try Self.create(tables, in: Self.schema, db)
    }

    /// Detaches the database, which holds nothing but the store's tables then.
    func detach() throws {
        try db.execute(sql: "DROP TABLE \(Self.copied)")
        db.releaseMemory()
        try db.execute(sql: "DETACH DATABASE \(Self.schema)")
    }

    /// Creates empty tables with the columns and unique keys of the store's. Where two names differ by case only, the first counts.
    static func create(_ tables: [StoredTable], in schema: String, _ db: Database) throws {
        var names: Set<String> = []
        for table in tables where names.insert(table.name.lowercased()).inserted && table.problem(ofWriting: 0) == nil {
            guard !table.columns.isEmpty else { continue }
            var parts = table.columns.map { "\($0.name.sqlIdentifier) \($0.stagedType) COLLATE \($0.stagedCollation)" }
            if !table.primaryKey.isEmpty { parts.append("PRIMARY KEY (\(table.primaryKey.sqlList))") }
            for index in table.uniqueIndexes where index != table.primaryKey {
                parts.append("UNIQUE (\(index.sqlList))")
            }
            try db.execute(
                sql: "CREATE TABLE \(schema).\(table.name.sqlIdentifier) (\(parts.joined(separator: ", ")))")
        }
    }

    /// Creates a table again if it is missing, or if the store's table has other columns by now.
    func renew(_ table: StoredTable) throws {
        let columns = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_info(?, '\(Self.schema)')", arguments: [table.name])
        guard columns != table.columns.map(\.name) else { return }
        try db.execute(sql: "DROP TABLE IF EXISTS \(name(of: table))")
        try db.execute(sql: "DELETE FROM \(Self.copied) WHERE name = ?", arguments: [table.name])
        try Self.create([table], in: Self.schema, db)
    }

    /// Returns the names of the tables that are here.
    func tableNames() throws -> [String] {
        try String.fetchAll(
            db,
            sql:
                "SELECT name FROM \(Self.schema).sqlite_schema WHERE type = 'table' AND name <> 'tributary_copied' ORDER BY name"
        )
    }

    func isWhole(_ table: StoredTable) throws -> Bool {
        try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM \(Self.copied) WHERE name = ?)", arguments: [table.name]) == true
    }

    /// Copies all rows of a table, row by row.
    func copy(_ table: StoredTable, from connection: PostgresConnection) throws {
        try inTransaction {
            try db.execute(sql: "DELETE FROM \(name(of: table))")
            try insert(table, from: connection, where: "", [])
            try db.execute(sql: "INSERT INTO \(Self.copied) VALUES (?)", arguments: [table.name])
        }
    }

    /// Copies the rows whose columns have these values, replacing an earlier copy of them.
    func copy(
        _ table: StoredTable, matching values: [(column: StoredTable.Column, value: DatabaseValue)],
        from connection: PostgresConnection
    ) throws {
        let condition = RowCondition(values)
        let stored = values.map { "\($0.column.sql) IS ?" }.joined(separator: " AND ")
        try inTransaction {
            try db.execute(
                sql: "DELETE FROM \(name(of: table)) WHERE \(stored)",
                arguments: StatementArguments(values.map(\.value)))
            try insert(table, from: connection, where: condition.sql, condition.parameters)
        }
    }

    private func name(of table: StoredTable) -> String { "\(Self.schema).\(table.name.sqlIdentifier)" }

    private func insert(
        _ table: StoredTable, from connection: PostgresConnection, where condition: String,
        _ parameters: [PostgresValue?]
    ) throws {
        let columns = table.columns.map(\.sql).joined(separator: ", ")
        let places = table.columns.map { _ in "?" }.joined(separator: ", ")
        // A row may have been copied for other values of it.
        let statement = try db.makeStatement(
            sql: "INSERT OR REPLACE INTO \(name(of: table)) (\(columns)) VALUES (\(places))")
        var types: [UInt32] = []
        try connection.forEachRow(of: "SELECT \(columns) FROM \(table.sql)\(condition)", parameters) { row in
            if types.isEmpty { types = row.columnTypes }
            statement.setUncheckedArguments(
                StatementArguments(try types.indices.map { try row.databaseValue($0, type: types[$0]) }))
            try statement.execute()
            return .next
        }
    }

    private func inTransaction(_ body: () throws -> Void) throws {
        try db.inTransaction {
            try body()
            return .commit
        }
    }
}

/// The condition that columns of a row have these values.
struct RowCondition {
    /// The WHERE clause.
    let sql: String
    let parameters: [PostgresValue?]

    init(_ values: [(column: StoredTable.Column, value: DatabaseValue)]) {
        var parameters: [PostgresValue?] = []
        let conditions = values.map { column, value in
            guard let parameter = PostgresValue(value) else { return "\(column.sql) IS NULL" }
            parameters.append(parameter)
            return "\(column.sql) = $\(parameters.count)"
        }
        sql = conditions.whereClause
        self.parameters = parameters
    }
}

extension PostgresValue {
    /// - Returns: nil for NULL.
    fileprivate init?(_ value: DatabaseValue) {
        switch value.storage {
        case .null: return nil
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .bytes([UInt8](data))
        }
    }
}
