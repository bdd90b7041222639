import FeedModel
import FeedStaging
import FeedStores

/// The SQL of PostgreSQL. Work tables have the types and collations of the store's columns, so that values compare as the
/// stored ones do.
struct PostgresDialect: SQLDialect {
    var join: String { "JOIN" }
    var changelog: String { "tributary_change" }
    var runs: String { "tributary_run" }
    var integer: String { "bigint" }
    var boolean: String { "boolean" }

    func literal(_ text: String) -> String { text.postgresLiteral }
    func literal(_ value: Bool) -> String { value ? "true" : "false" }
    func isDistinct(_ left: String, from right: String) -> String { "\(left) IS DISTINCT FROM \(right)" }

    // MARK: - Columns

    // Also for texts, which may be dates.
    func holdsDates(_ column: StoredTable.Column) -> Bool {
        column.category == "S" || ["date", "timestamp", "timestamptz"].contains(column.typeName)
    }

    func hasExpired(_ column: StoredTable.Column, _ expiry: Retention.Expiry, _ alias: String) -> String {
        let value = "\(alias).\(column.sql)"
        let (end, day) = (expiry.endTime.postgresLiteral, expiry.endDay.postgresLiteral)
        guard column.category == "S" else {
            return "\(value) < \(column.typeName == "date" ? day : end)::\(column.typeName)"
        }
        return """
            \(value) ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}' AND CASE length(\(value))
                WHEN 10 THEN \(value) COLLATE "C" < \(day)
                ELSE replace(\(value), ' ', 'T') COLLATE "C" < \(expiry.endText.postgresLiteral) END
            """
    }
    func definition(of column: StoredTable.Column) -> String { column.definition }

    func differs(_ column: StoredTable.Column, _ left: String, from right: String, exactly: Bool) -> String {
        guard exactly else { return "\(column.exact(of: left)) IS DISTINCT FROM \(column.exact(of: right))" }
        return column.bytesDecide
            ? "\(left) IS DISTINCT FROM \(right)"
            : "\(left)::text COLLATE \"C\" IS DISTINCT FROM \(right)::text COLLATE \"C\""
    }

    // PostgreSQL compares columns of two collations only where one of these is named; the other column's decides, as it
    // does for foreign keys.
    func value(of column: StoredTable.Column, _ alias: String, comparedWith other: StoredTable.Column) -> String {
        let value = "\(alias).\(column.sql)"
        guard let collation = other.collation, column.collation != nil, collation != column.collation else {
            return value
        }
        return "\(value) COLLATE \(collation)"
    }

    func value(of column: StoredTable.Column, _ row: any SQLRow, _ index: Int) throws -> StoredValue {
        try StoredValue(row, index, of: column)
    }

    func spelling(of column: StoredTable.Column, _ row: any SQLRow, _ index: Int) -> String? {
        column.typeName == "numeric" ? row.string(index) : nil
    }

    // PostgreSQL takes no number for a boolean, but it reads 0 and 1 from a text.
    func bound(_ value: StoredValue, for column: StoredTable.Column?) -> SQLText.Value {
        guard column?.category == "B", case .integer(let number) = value else { return SQLText.Value(value) }
        return .text(String(number))
    }

    // MARK: - Staged rows

    func staged(_ table: StagingTable) -> String { table.staged }
    func duplicates(of table: StagingTable) -> String { table.stagedDuplicates }
    func definition(of table: StagingTable) -> String { "LIKE \(table.staged)" }
    func matches(_ table: StagingTable, _ left: String, _ right: String) -> String { table.matches(left, right) }

    func isSameRow(_ table: StagingTable, _ stored: StoredTable, _ left: String, _ right: String) -> String {
        if case .key = table.identity { return table.matches(left, right) }
        let columns = stored.columns(of: table.identityColumns)
        func record(_ alias: String) -> String { "ROW(\(columns.map { $0.exact(alias) }.joined(separator: ", ")))" }
        // By their hashes, the rows that may be the same are found at once.
        return """
            \(rowHash(table, stored, left)) = \(rowHash(table, stored, right))
            AND record_eq(\(record(left)), \(record(right)))
            """
    }

    func isStaged(_ table: StagingTable, _ stored: StoredTable) -> String {
        "EXISTS (SELECT 1 FROM \(table.staged) s WHERE \(isSameRow(table, stored, "s", "m")))"
    }

    /// Returns an expression for a hash that a staged and a stored row have in common where they are the same row as a
    /// whole. Rows with one hash need not be the same.
    ///
    /// Whole rows are too large for an index, and this is not.
    func rowHash(_ table: StagingTable, _ stored: StoredTable, _ alias: String) -> String {
        let columns = stored.columns(of: table.allColumns.map(\.name)).filter {
            Self.hashedTypes.contains($0.typeName)
        }
        guard !columns.isEmpty else { return "0::bigint" }
        return "hash_record_extended(ROW(\(columns.map { $0.exact(alias) }.joined(separator: ", "))), 0)"
    }

    /// Types that have hashes in every version of PostgreSQL.
    private static let hashedTypes: Set<String> = [
        "bool", "int2", "int4", "int8", "float4", "float8", "numeric", "text", "varchar", "bytea", "uuid", "date",
        "timestamp", "timestamptz",
    ]

    // MARK: - Differences

    var differenceDefinition: String {
        "id bigint NOT NULL, row bigint NOT NULL, is_new boolean NOT NULL, is_restored boolean"
    }

    func insertDifferences(
        into name: String, of part: StagedStack.Part, _ stored: StoredTable, _ options: DifferenceOptions
    ) throws -> SQLText {
        let table = part.table
        let row = "s.\(StagingTable.row)"
        // The rows of a large feed have no order of their own.
        let id = part.isSorted ? row : "row_number() OVER (ORDER BY \(row))"
        let insertion = "INSERT INTO \(name) (id, row, is_new, is_restored)"
        guard case .key = table.identity else {
            return """
                \(insertion) SELECT \(id), \(row), true, false FROM \(table.staged) s
                WHERE NOT EXISTS (SELECT 1 FROM \(stored.sql) m WHERE \(isSameRow(table, stored, "m", "s")))
                """
        }
        let isNew = "m.tableoid IS NULL"
        let differs = try [isNew] + differences(of: table, from: stored, options)
        return """
            \(insertion) SELECT \(id), \(row), \(isNew), \(options.isRestored ?? "false") FROM \(table.staged) s
            LEFT JOIN \(stored.sql) m ON \(table.matches("m", "s")) WHERE \(differs.joinedConditions("OR"))
            """
    }

    func insertWholeDifference(
        _ difference: Difference, _ missing: RowList, key: String, _ options: DifferenceOptions
    ) throws -> SQLText? {
        let table = difference.table
        let row = "s.\(StagingTable.row)"
        let isFound =
            try ["\(row) IS NULL", "m.tableoid IS NULL"] + differences(of: table, from: difference.stored, options)
        let located = missing.located.joined(separator: ", ")
        let locators = zip(missing.located, difference.stored.locator).map { "m.\($1.sql) AS \($0)" }
        return """
            WITH found AS MATERIALIZED (
                SELECT \(row) AS row, m.tableoid IS NULL AS is_new, \(locators.joined(separator: ", ")), \(key) AS key
                FROM \(table.staged) s FULL JOIN \(difference.stored.sql) m ON \(table.matches("m", "s"))
                WHERE \(isFound.joinedConditions("OR"))
            ), missing AS (
                INSERT INTO \(missing.name) (id, \(located), key)
                SELECT row_number() OVER (), \(located), key FROM found WHERE row IS NULL
            )
            INSERT INTO \(difference.name) (id, row, is_new, is_restored)
            SELECT row_number() OVER (ORDER BY row), row, is_new, false FROM found WHERE row IS NOT NULL
            """
    }

    func isStoredRow(_ table: StagingTable, _ stored: StoredTable) -> String { table.matches("m", "s") }

    // MARK: - Work tables

    func listDefinition(of table: StoredTable, isUnique: Bool, columns: [String]) -> String {
        let located = RowList.located(table)
        let definitions = zip(located, table.locator).map { "\($0) \($1.definition)" } + ["key text"] + columns
        let id = isUnique ? "id bigint PRIMARY KEY" : "id bigint NOT NULL"
        let unique = isUnique ? ", UNIQUE (\(located.joined(separator: ", ")))" : ""
        return "\(id), \(definitions.joined(separator: ", "))\(unique)"
    }

    // A sequence takes longer to make than the table.
    func append(to list: RowList, _ columns: [String], _ values: String, from rows: SQLText, order: String?) -> SQLText
    {
        """
        INSERT INTO \(list.name) (id, \(columns.joined(separator: ", ")))
        SELECT (SELECT coalesce(max(id), 0) FROM \(list.name))
            + row_number() OVER (\(order.map { "ORDER BY " + $0 } ?? "")), \(values)
        FROM \(rows) ON CONFLICT DO NOTHING
        """
    }

    func keysDefinition(_ key: [StoredTable.Column], of table: StagingTable?, columns: [String]) -> String {
        let own = key.enumerated().map { "k\($0) \($1.definition)" }
        let names = key.indices.map { "k\($0)" }.joined(separator: ", ")
        return (own + columns + ["UNIQUE (\(names))"]).joined(separator: ", ")
    }

    func insertNew(into table: String, _ columns: String, _ query: SQLText) -> SQLText {
        "INSERT INTO \(table) (\(columns)) \(query) ON CONFLICT DO NOTHING"
    }

    func firstOfEach(_ query: String) -> String {
        "SELECT DISTINCT ON (record) record, id FROM (\(query)) a ORDER BY record, id"
    }

    func isListed(_ list: RowList, _ row: String, _ listed: String) -> String { list.isRow(row, listed) }

    // MARK: - Before-images

    func imagesDefinition(of table: StoredTable, columns: [String]) -> String {
        let located = zip(RowList.located(table), table.locator).map { "\($0) \($1.definition)" }
        return (located + columns).joined(separator: ", ")
    }

    // An index would have to be kept while rows are added.
    func firstImages(of name: String, by key: String) -> String {
        "(SELECT DISTINCT ON (\(key)) * FROM \(name) ORDER BY \(key), number)"
    }

    // The values as text, for every type has that, and few have a hash that tells all values apart.
    func digest(_ values: [String]) -> String { "hashtextextended(ROW(\(values.joined(separator: ", ")))::text, 0)" }

    // MARK: - Changes of listed rows

    func deletion(of list: RowList) -> String {
        "DELETE FROM \(list.table.sql) AS m USING \(list.name) g WHERE \(list.isRow("m", "g"))"
    }

    func update(_ list: RowList, _ values: [(column: String, value: SQLText)], joined: String, isConstant: Bool)
        -> SQLText
    {
        let assignments = values.map { SQLText("\($0) = ") + $1 }.joined(separator: ", ")
        return
            "UPDATE \(list.table.sql) AS m SET \(assignments) FROM \(list.name) g \(joined) WHERE \(list.isRow("m", "g"))"
    }

    // MARK: - Keys in the changelog

    func changelogKey(_ columns: [String], of table: StoredTable, _ alias: String) -> String {
        table.changelogKey(columns, alias)
    }

    func isKey(_ key: String, among keys: String) -> String {
        "EXISTS (SELECT 1 FROM (\(keys)) w WHERE w.key = \(key))"
    }

    // MARK: - Conditions

    func isAtLeastTheSmallest(_ value: String, _ column: StoredTable.Column, of staged: String) -> String {
        func least(_ value: String) -> String { "SELECT min(\(value)) FROM \(staged) s" }
        let other = "s.\(column.sql)"
        guard column.category == "S" else { return "\(value) >= (\(least(other)))" }
        return TimeText.postgres(value, isAtLeastTheSmallestOf: other, least)
    }

    func isOutside(_ value: String, _ column: StoredTable.Column, scope: String) -> SQLText {
        "\(value) IS DISTINCT FROM \(bind: scope)"
    }

    // A collation that is not deterministic takes no part in a search.
    func contains(_ value: String, _ text: String) -> SQLText {
        "strpos(lower(CAST(\(value) AS text)) COLLATE \"C\", lower(CAST(\(bind: text) AS text))) > 0"
    }
}

extension StoredTable {
    /// Returns those of the columns that the table has.
    fileprivate func columns(of names: [String]) -> [StoredTable.Column] { names.compactMap { column($0) } }
}

extension StagingTable {
    /// The schema of the merge's own tables.
    static let temporarySchema = "pg_temp"

    /// The prefix of the merge's own tables, so that they hide no table of the store.
    static let temporaryPrefix = "tributary_"

    /// The temporary table of the staged rows, as SQL names it.
    var staged: String { "\(schema).\(name.sqlIdentifier)" }

    /// The temporary table of records that were replaced by later ones, each with the row that replaced it.
    var stagedDuplicates: String { "\(schema).\("\(name)_twins".sqlIdentifier)" }

    /// Returns a condition that a row under one alias is the row under the other. Always false without a key. The
    /// staged columns have the types and collations of the store's.
    func matches(_ left: String, _ right: String) -> String {
        guard case .key(let key, _) = identity else { return "false" }
        return key.map(\.sqlIdentifier).map { "\(left).\($0) = \(right).\($0)" }.joined(separator: " AND ")
    }
}
