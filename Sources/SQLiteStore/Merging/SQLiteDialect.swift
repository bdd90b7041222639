import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// The SQL of SQLite. CROSS JOIN keeps its planner to the order of the tables.
struct SQLiteDialect: SQLDialect {
    var join: String { "CROSS JOIN" }
    var changelog: String { "main.tributary_change" }
    var runs: String { "main.tributary_run" }
    var integer: String { "INTEGER" }
    var boolean: String { "INTEGER" }

    func literal(_ text: String) -> String { text.sqlLiteral }
    func literal(_ value: Bool) -> String { value ? "1" : "0" }
    func isDistinct(_ left: String, from right: String) -> String { "\(left) IS NOT \(right)" }

    // MARK: - Columns

    // Dates are stored as text.
    func holdsDates(_ column: StoredTable.Column) -> Bool {
        Affinity(declaredType: column.type).holds("TEXT", declaredType: column.type)
    }

    func hasExpired(_ column: StoredTable.Column, _ expiry: Retention.Expiry, _ alias: String) -> String {
        let value = "\(alias).\(column.sql)"
        let (end, day) = (expiry.endText.sqlLiteral, expiry.endDay.sqlLiteral)
        // The first condition finds the rows by an index; a text without a time, or with a space before it, needs the last.
        return """
            \(value) < \(end) AND \(value) GLOB '[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*'
            AND CASE length(\(value)) WHEN 10 THEN \(value) < \(day) ELSE replace(\(value), ' ', 'T') < \(end) END
            """
    }

    // Without a type, a column takes every value as it is.
    func definition(of column: StoredTable.Column) -> String { "" }

    func differs(_ column: StoredTable.Column, _ left: String, from right: String, exactly: Bool) -> String {
        let differs = "\(left) IS NOT \(right) COLLATE BINARY"
        return exactly ? "(\(differs) OR typeof(\(left)) <> typeof(\(right)))" : differs
    }

    func value(of column: StoredTable.Column, _ alias: String, comparedWith other: StoredTable.Column) -> String {
        "\(alias).\(column.sql)"
    }

    func value(of column: StoredTable.Column, _ row: any SQLRow, _ index: Int) throws -> StoredValue {
        row.storedValue(index)
    }

    func spelling(of column: StoredTable.Column, _ row: any SQLRow, _ index: Int) -> String? { nil }

    func bound(_ value: StoredValue, for column: StoredTable.Column?) -> SQLText.Value { SQLText.Value(value) }

    // MARK: - Staged rows

    func staged(_ table: StagingTable) -> String { table.qualifiedName }
    func duplicates(of table: StagingTable) -> String { table.duplicates }
    func definition(of table: StagingTable) -> String { table.definition }
    func matches(_ table: StagingTable, _ left: String, _ right: String) -> String { table.matches(left, right) }

    func isSameRow(_ table: StagingTable, _ stored: StoredTable, _ left: String, _ right: String) -> String {
        table.isSameRow(left, right)
    }

    func isStaged(_ table: StagingTable, _ stored: StoredTable) -> String {
        if table.isIdentifiedByManyColumns {
            return "m.\(stored.locator[0].sql) IN (\(table.rowsThatAreInBoth("stored")))"
        }
        return "EXISTS (SELECT 1 FROM \(table.qualifiedName) s WHERE \(table.isSameRow("s", "m")))"
    }

    // MARK: - Differences

    /// Also the row id of the store's row as `target`: by it, the row is found at once.
    var differenceDefinition: String {
        "id INTEGER PRIMARY KEY, row INTEGER NOT NULL, is_new INTEGER NOT NULL, is_restored INTEGER, target INTEGER"
    }

    func insertDifferences(
        into name: String, of part: StagedStack.Part, _ stored: StoredTable, _ options: DifferenceOptions
    ) throws -> SQLText {
        SQLText(
            "INSERT INTO \(name) (row, is_new, is_restored, target) "
                + (part.table.keyColumns.isEmpty ? newRows(of: part.table) : try differing(part, stored, options)))
    }

    private func newRows(of table: StagingTable) -> String {
        let row = StagingTable.row
        // Without a key, the store's rows are looked up among the staged ones, whose index covers every column.
        let known =
            table.isIdentifiedByManyColumns
            ? table.rowsThatAreInBoth("staged")
            : """
            SELECT k.\(row) FROM \(table.qualifiedTable) m CROSS JOIN \(table.qualifiedName) k ON \(table.isSameRow("k", "m"))
            """
        return """
            SELECT s.\(row), 1, 0, NULL FROM \(table.qualifiedName) s
            WHERE s.\(row) NOT IN (\(known)) ORDER BY s.\(row)
            """
    }

    private func differing(
        _ part: StagedStack.Part, _ stored: StoredTable, _ options: DifferenceOptions
    ) throws -> String {
        let table = part.table
        let isNew = "m.\(table.keyColumns[0].sqlIdentifier) IS NULL"
        let differs = try [isNew] + differences(of: table, from: stored, options)
        return """
            SELECT s.\(StagingTable.row), \(isNew), \(options.isRestored ?? "0"), \(table.table.rowID.map { "m." + $0 } ?? "NULL")
            FROM \(table.qualifiedName) s LEFT JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s"))
            WHERE \(differs.joinedConditions("OR")) ORDER BY \(part.order)
            """
    }

    // A full join would look up each row of either side.
    func insertWholeDifference(
        _ difference: Difference, _ missing: RowList, key: String, _ options: DifferenceOptions
    ) throws -> SQLText? { nil }

    func isStoredRow(_ table: StagingTable, _ stored: StoredTable) -> String {
        table.table.rowID.map { "m.\($0) = d.target" } ?? table.matches("m", "s")
    }

    // MARK: - Work tables

    func listDefinition(of table: StoredTable, isUnique: Bool, columns: [String]) -> String {
        let located = RowList.located(table).joined(separator: ", ")
        let others = columns.map { ", " + $0 }.joined()
        return "id INTEGER PRIMARY KEY, \(located), key\(others)\(isUnique ? ", UNIQUE (\(located))" : "")"
    }

    func append(to list: RowList, _ columns: [String], _ values: String, from rows: SQLText, order: String?) -> SQLText
    {
        """
        INSERT OR IGNORE INTO \(list.name) (\(columns.joined(separator: ", ")))
        SELECT \(values) FROM \(rows)\(order.map { " ORDER BY " + $0 } ?? "")
        """
    }

    func keysDefinition(_ key: [StoredTable.Column], of table: StagingTable?, columns: [String]) -> String {
        let own = key.enumerated().map { index, column in
            let collation = table?.keyCollations[index] ?? column.collation ?? "BINARY"
            return "k\(index) \(column.stagedType) COLLATE \(collation)"
        }
        let names = key.indices.map { "k\($0)" }.joined(separator: ", ")
        return (own + columns + ["PRIMARY KEY (\(names))"]).joined(separator: ", ")
    }

    func insertNew(into table: String, _ columns: String, _ query: SQLText) -> SQLText {
        "INSERT OR IGNORE INTO \(table) (\(columns)) \(query)"
    }

    func firstOfEach(_ query: String) -> String { "SELECT record, min(id) FROM (\(query)) GROUP BY record" }

    // With the affinity of the store's column, SQLite would not use the index of a column that has none; `+` takes it away.
    func isListed(_ list: RowList, _ row: String, _ listed: String) -> String {
        zip(list.located, list.table.locator).map { "\(listed).\($0) = +\(row).\($1.sql)" }.joinedConditions("AND")
    }

    // MARK: - Before-images

    func imagesDefinition(of table: StoredTable, columns: [String]) -> String {
        let located = RowList.located(table).joined(separator: ", ")
        let others = columns.joined(separator: ", ")
        return table.rowID == nil
            ? "\(located), \(others), PRIMARY KEY (\(located))" : "\(located) INTEGER PRIMARY KEY, \(others)"
    }

    // The key lets in the first alone.
    func firstImages(of name: String, by key: String) -> String { name }

    func digest(_ values: [String]) -> String { Database.rowDigest(of: values) }

    // MARK: - Changes of listed rows

    func deletion(of list: RowList) -> String {
        "DELETE FROM \(list.table.sql) WHERE \(isListed(list))"
    }

    func update(_ list: RowList, _ values: [(column: String, value: SQLText)], joined: String, isConstant: Bool)
        -> SQLText
    {
        let assignments = values.map { column, value -> SQLText in
            isConstant
                ? "\(column) = \(value)"
                : "\(column) = (SELECT \(value) FROM \(list.name) g \(joined) WHERE \(isListed(list, "m", "g")))"
        }
        return "UPDATE \(list.table.sql) AS m SET \(assignments.joined(separator: ", ")) WHERE \(isListed(list))"
    }

    /// Returns a condition on rows of the table. By it, SQLite reads the list and looks each row up.
    private func isListed(_ list: RowList) -> String {
        let locator = list.table.locator.map(\.sql).joined(separator: ", ")
        return "(\(locator)) IN (SELECT \(list.located.joined(separator: ", ")) FROM \(list.name))"
    }

    // MARK: - Keys in the changelog

    func changelogKey(_ columns: [String], of table: StoredTable, _ alias: String) -> String {
        columns.isEmpty ? "\(alias).\(table.rowID ?? "rowid")" : changelogKeySQL(columns, alias)
    }

    func isKey(_ key: String, among keys: String) -> String { "coalesce(\(key) IN (\(keys)), 0)" }

    // MARK: - Conditions

    func isAtLeastTheSmallest(_ value: String, _ column: StoredTable.Column, of staged: String) -> String {
        let collation = column.collation ?? "BINARY"
        return TimeText.sqlite(value, isAtLeastTheSmallestOf: "s.\(column.sql)") {
            "SELECT min(\($0) COLLATE \(collation)) FROM \(staged) s"
        }
    }

    func isOutside(_ value: String, _ column: StoredTable.Column, scope: String) -> SQLText {
        let collation = column.collation ?? "BINARY"
        return "\(value) IS NOT \(bind: scope) COLLATE \(collation.sqlIdentifier)"
    }

    func contains(_ value: String, _ text: String) -> SQLText {
        "instr(lower(CAST(\(value) AS TEXT)), lower(\(bind: text))) > 0"
    }
}
