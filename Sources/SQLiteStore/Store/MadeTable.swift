import FeedStaging

/// A table as Tributary makes it: its CREATE TABLE statement has columns and keys, and nothing else.
struct MadeTable {
    struct Column {
        var name: String
        /// With the collation, where it has one.
        var type: String
        var isNotNull = false
        /// The table to whose primary key it refers; nil for none.
        var references: String?

        var sql: String {
            "\(name.sqlIdentifier) \(type)\(isNotNull ? " NOT NULL" : "")"
                + (references.map { " REFERENCES \($0.sqlIdentifier)" } ?? "")
        }
    }

    /// The column that numbers the rows, as the primary key; nil for none.
    var number: String?
    /// The other columns.
    var columns: [Column]
    var primaryKey: [String] = []
    var unique: [String] = []

    init(number: String?, columns: [Column]) {
        self.number = number
        self.columns = columns
    }

    /// - Parameter statement: the statement that created the table, as SQLite keeps it in its schema.
    /// - Returns: nil if the statement says more than Tributary writes, such as a default or a CHECK.
    init?(_ table: StoredTable, _ statement: String) {
        let number = table.columns.first { $0.name == table.generatedKey && !$0.isNotNull }?.name
        self.number = number
        columns = table.columns.filter { $0.name != number }.map { column in
            let isBinary = column.collation.map { $0.uppercased() == "BINARY" } ?? true
            return Column(
                name: column.name,
                type: column.type + (isBinary ? "" : " COLLATE \((column.collation ?? "").sqlIdentifier)"),
                isNotNull: column.isNotNull,
                references: table.foreignKeys.first { $0.columns == [column.name] }?.parentName)
        }
        if number == nil { primaryKey = table.primaryKey }
        func compared(_ sql: String) -> String { sql.lowercased().filter { $0 != "\"" && !$0.isWhitespace } }
        let written = compared(statement)
        for key in [[]] + table.uniquenesses.map(\.columns) {
            unique = key
            if written.hasSuffix(compared(sql)) { return }
        }
        return nil
    }

    /// The columns and keys, between parentheses.
    var sql: String {
        let keys = [("PRIMARY KEY", primaryKey), ("UNIQUE", unique)].filter { !$0.1.isEmpty }.map { kind, key in
            "\(kind) (\(key.map(\.sqlIdentifier).joined(separator: ", ")))"
        }
        let numbers = number.map { ["\($0.sqlIdentifier) INTEGER PRIMARY KEY"] } ?? []
        return "(\((numbers + columns.map(\.sql) + keys).joined(separator: ", ")))"
    }
}
