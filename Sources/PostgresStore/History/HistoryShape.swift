import FeedModel
import FeedStaging
import FeedStores
import Merging
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

    /// False where the table has got a key since, of which the history has no column yet, or has none any more.
    var hasIdentity: Bool { !table.isLocatedByPlace && keyColumns.allSatisfy(columns.contains) }

    /// The history's schema: that of Tributary's own tables. Earlier versions made it beside the table.
    var schema: String

    /// The name of a history that has ended, as a column of the table got another type; nil for the one that goes on.
    var former: String?

    /// As SQL names it.
    var sql: String { HistoryName(schema: schema, name: former ?? HistoryTable.name(of: table.name)).sql }

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
    func key(_ alias: String) -> String { table.changelogKey(keyColumns, alias) }

    /// The names of the columns of ``identity``.
    var keyColumns: [String] { table.columns.filter { identity.contains($0.sql) }.map(\.name) }
}

extension HistoryShape {
    /// Reads the shape of an existing history; nil where the table has none.
    ///
    /// - Parameter former: the name of one that has ended.
    init?(_ connection: PostgresConnection, of table: TableDetails, former: String? = nil) throws {
        let rows = try connection.execute(
            """
            SELECT n.nspname, a.attname, format_type(a.atttypid, a.atttypmod)
            FROM \(HistoryName.all) JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid
            WHERE c.relname = $1 AND a.attnum > $2::integer AND NOT a.attisdropped ORDER BY a.attnum
            """, [.text(former ?? HistoryTable.name(of: table.name)), .integer(Int64(HistoryTable.ownColumns.count))])
        guard let schema = rows.first?.string(0) else { return nil }
        self.table = table
        self.schema = schema
        self.former = former
        columns = rows.compactMap { $0.string(1) }
        retyped = rows.compactMap { row in
            let column = row.string(1).flatMap(table.column)
            return column.map { !$0.isComputed && $0.baseType != row.string(2) } == true ? column?.name : nil
        }
    }

    /// Returns the histories of all tables that are still there, by name.
    static func all(_ connection: PostgresConnection, _ tables: MergeTables) throws -> [HistoryShape] {
        let names = try HistoryName.all(connection).compactMap(\.table)
        try tables.load(names)
        return try names.compactMap { name in
            try tables.table(name).flatMap { try HistoryShape(connection, of: $0) }
        }
    }

    /// Returns the histories that have ended, of all tables that are still there.
    static func former(_ connection: PostgresConnection, _ tables: MergeTables) throws -> [HistoryShape] {
        let names = try HistoryName.all(connection).map(\.name)
        try tables.load(names.compactMap(HistoryTable.table))
        return try names.compactMap { name in
            guard let table = try HistoryTable.table(ofFormer: name).flatMap(tables.table) else { return nil }
            return try HistoryShape(connection, of: table, former: name)
        }
    }

    /// Gives entries of new rows, which have the key alone, the values of another key. So rows are still found that were
    /// written before the table got that key, unless these values have changed since.
    func complete(_ key: [String], _ connection: PostgresConnection) throws {
        let new = key.filter { columns.contains($0) && !keyColumns.contains($0) }.map(\.postgresIdentifier)
        guard !new.isEmpty, hasIdentity else { return }
        let list = new.joined(separator: ", ")
        try connection.execute(
            """
            UPDATE \(sql) h SET (\(list)) = (
                SELECT \(list) FROM (
                    (SELECT 1 AS n, \(list) FROM \(sql) x WHERE \(isRow("x", "h")) AND x.\(HistoryTable.id) > h.\(HistoryTable.id)
                    ORDER BY x.\(HistoryTable.id) LIMIT 1)
                    UNION ALL SELECT 2, \(list) FROM \(table.sql) m WHERE \(isRow("m", "h"))) v ORDER BY n LIMIT 1)
            WHERE h.\(HistoryTable.operation) = 'insert'
            """)
        let identity = key.map(\.postgresIdentifier).joined(separator: ", ")
        try connection.execute("CREATE INDEX ON \(sql) (\(identity), \(HistoryTable.id))")
    }

    /// Puts a history away whose values would not fit into the table any more. Nobody goes back over it.
    private func putAside(_ connection: PostgresConnection) throws {
        try connection.execute(
            "UPDATE tributary_run SET history = false WHERE id IN (SELECT \(HistoryTable.run) FROM \(sql))")
        var number = 1
        func name() -> HistoryName { .init(schema: schema, name: HistoryTable.formerName(of: table.name, number)) }
        while try !connection.execute("SELECT to_regclass($1)", [.text(name().sql)])[0].isNull(0) { number += 1 }
        try connection.execute("ALTER TABLE \(sql) RENAME TO \(name().name.postgresIdentifier)")
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
            return HistoryShape(table: table, columns: shape.columns + new.map(\.name), schema: shape.schema)
        }
        if let problem = HistoryName.problem(of: table.name) { throw StoreError(.history, problem) }
        let definitions = columns.map { "\($0.sql) \($0.definition)" }
        let shape = HistoryShape(
            table: table, columns: columns.map(\.name), schema: try HistoryName.ownSchema(connection))
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
