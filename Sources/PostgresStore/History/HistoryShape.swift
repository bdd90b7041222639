import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// How the history of a table names its rows, and which of the table's columns it keeps.
struct HistoryShape {
    var table: TableDetails
    /// The history's columns for those of the table, in the order in which it has got them. The table may have lost some.
    var columns: [String]
    /// The columns that now hold values of another type in the table.
    var retyped: [String] = []

    /// The columns that tell a row from all others at any time.
    var identity: [String] { table.locator.map(\.sql) }

    /// As SQL names it. It is in the table's schema.
    var sql: String { Self.sql(of: table) }

    private static func sql(of table: TableDetails) -> String {
        "\(table.schema.postgresIdentifier).\(HistoryTable.name(of: table.name).postgresIdentifier)"
    }

    /// Returns a condition that two rows, of the table or of its history, are versions of one.
    func isRow(_ row: String, _ entry: String) -> String {
        identity.map { "\(row).\($0) = \(entry).\($0)" }.joined(separator: " AND ")
    }

    func isStored(_ column: String) -> Bool {
        table.column(column).map { $0.name == column && !$0.isComputed } ?? false
    }

    /// Returns an expression for the value of a column in a row of the table.
    func stored(_ column: String, in alias: String) -> String {
        isStored(column) ? "\(alias).\(column.postgresIdentifier)" : "NULL"
    }

    /// Returns an expression for the digest of a row of the table; NULL where an outer join has found none.
    func digest(ofStored alias: String, width: Int? = nil) -> String {
        let values = columns.prefix(width ?? columns.count).map { stored($0, in: alias) }
        return "CASE WHEN \(alias).tableoid IS NOT NULL THEN \(Self.digest(values)) END"
    }

    /// Returns an expression for the digest of the row that an entry keeps; NULL where there was none.
    func digest(ofEntry alias: String, width: Int) -> String {
        let values = columns.prefix(width).map { "\(alias).\($0.postgresIdentifier)" }
        return "CASE WHEN \(alias).\(HistoryTable.operation) <> 'insert' THEN \(Self.digest(values)) END"
    }

    /// The values as text, for every type has that, and few have a hash that tells all values apart.
    private static func digest(_ values: [String]) -> String {
        "hashtextextended(ROW(\(values.joined(separator: ", ")))::text, 0)"
    }

    /// Returns an expression for the key of a row, for people.
    func key(_ alias: String) -> String { table.journalKey(keyColumns, alias) }

    /// The names of the columns of ``identity``.
    var keyColumns: [String] { table.columns.filter { identity.contains($0.sql) }.map(\.name) }
}

extension HistoryShape {
    /// Reads the shape of an existing history; nil where the table has none.
    init?(_ connection: PostgresConnection, of table: TableDetails) throws {
        let rows = try connection.execute(
            """
            SELECT attname, format_type(atttypid, atttypmod) FROM pg_catalog.pg_attribute
            WHERE attrelid = to_regclass($1) AND attnum > $2::integer AND NOT attisdropped ORDER BY attnum
            """, [.text(Self.sql(of: table)), .integer(Int64(HistoryTable.ownColumns.count))])
        guard !rows.isEmpty else { return nil }
        self.table = table
        columns = rows.compactMap { $0.string(0) }
        retyped = rows.compactMap { row in
            let column = row.string(0).flatMap(table.column)
            return column.map { !$0.isComputed && $0.baseType != row.string(1) } == true ? column?.name : nil
        }
    }

    /// Returns the histories of all tables that are still there, by name.
    static func all(_ connection: PostgresConnection, _ tables: MergeTables) throws -> [HistoryShape] {
        let names = try self.tables(connection)
        try tables.load(names)
        return try names.compactMap { name in
            try tables.table(name).flatMap { try HistoryShape(connection, of: $0) }
        }
    }

    /// Returns the names of all tables that have a history, even if they are gone.
    static func tables(_ connection: PostgresConnection) throws -> [String] {
        try connection.execute(
            """
            SELECT substr(relname, $1::integer + 1) FROM pg_catalog.pg_class
            WHERE relkind = 'r' AND starts_with(relname, $2) AND pg_table_is_visible(oid) ORDER BY relname
            """, [.integer(Int64(HistoryTable.prefix.count)), .text(HistoryTable.prefix)]
        ).compactMap { $0.string(0) }
    }

    /// Puts a history away whose values would not fit into the table any more. Nobody goes back over it.
    private func putAside(_ connection: PostgresConnection) throws {
        try connection.execute(
            "UPDATE tributary_run SET history = false WHERE id IN (SELECT \(HistoryTable.run) FROM \(sql))")
        var number = 1
        func name() -> String { HistoryTable.formerName(of: table.name, number).postgresIdentifier }
        while try !connection.execute(
            "SELECT to_regclass($1)", [.text("\(table.schema.postgresIdentifier).\(name())")])[0]
            .isNull(0)
        {
            number += 1
        }
        try connection.execute("ALTER TABLE \(sql) RENAME TO \(name())")
    }

    /// Creates the history of a table, or adds the columns that the table has gained.
    static func prepare(_ connection: PostgresConnection, for table: TableDetails) throws -> HistoryShape {
        let columns = table.columns.filter { !$0.isComputed }
        if let shape = try HistoryShape(connection, of: table), !shape.retyped.isEmpty {
            try shape.putAside(connection)
        } else if let shape = try HistoryShape(connection, of: table) {
            let new = columns.filter { !shape.columns.contains($0.name) }
            for column in new {
                // Rows that were replaced before read as those of the table itself do.
                let value = try connection.execute(
                    """
                    SELECT (attmissingval::text::text[])[1] FROM pg_catalog.pg_attribute
                    WHERE attrelid = $1::oid AND attname = $2
                    """, [.integer(Int64(table.oid)), .text(column.name)]
                ).first?.string(0)
                let constant = value.map { " DEFAULT \($0.postgresLiteral)" } ?? ""
                try connection.execute(
                    "ALTER TABLE \(shape.sql) ADD COLUMN \(column.sql) \(column.definition)\(constant)")
            }
            return HistoryShape(table: table, columns: shape.columns + new.map(\.name))
        }
        guard HistoryTable.name(of: table.name).utf8.count <= 63 else {
            throw StoreError(
                .history,
                "the history of table '\(table.name)' would need a name of more than 63 bytes, which is PostgreSQL's limit; "
                    + "shorten the table's name to \(63 - HistoryTable.prefix.utf8.count) bytes")
        }
        let definitions = columns.map { "\($0.sql) \($0.definition)" }
        let shape = HistoryShape(table: table, columns: columns.map(\.name))
        try connection.executeScript(
            """
            CREATE TABLE \(shape.sql) (
                \(HistoryTable.id) bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, \(HistoryTable.run) bigint NOT NULL,
                \(HistoryTable.operation) text NOT NULL, \(HistoryTable.row) bigint,
                \(HistoryTable.after) bigint, \(HistoryTable.width) integer NOT NULL,
                \(definitions.joined(separator: ", ")));
            CREATE INDEX ON \(shape.sql) (\(HistoryTable.run));
            CREATE INDEX ON \(shape.sql) (\((shape.identity + [HistoryTable.id]).joined(separator: ", ")))
            """)
        return shape
    }
}
