package import FeedModel
package import FeedStaging

/// The SQL in which databases differ, as parts of the merge's statements.
///
/// In these parts, `m` is a row of the store's table, `s` a staged row, `g` a row of a ``RowList``, and `d` one of a
/// ``Difference``.
package protocol SQLDialect: Sendable {
    /// Joins a table to the ones before it, in this order if the planner might choose another one.
    var join: String { get }
    /// The changelog, as SQL names it.
    var changelog: String { get }
    /// The table of runs, as SQL names it.
    var runs: String { get }
    /// The types of a work table's columns: of whole numbers, of truth values.
    var integer: String { get }
    var boolean: String { get }

    func literal(_ text: String) -> String
    func literal(_ value: Bool) -> String

    /// Returns a condition that two values are not the same, as their column compares them. NULL is the same as NULL.
    func isDistinct(_ left: String, from right: String) -> String

    // MARK: Columns

    /// Returns true if dates can be in a column.
    func holdsDates(_ column: StoredTable.Column) -> Bool

    /// Returns a condition that the date under an alias has expired. Values that are not dates never expire.
    func hasExpired(_ column: StoredTable.Column, _ expiry: Retention.Expiry, _ alias: String) -> String

    /// Returns the type and collation of a work table's column that holds a column's values.
    func definition(of column: StoredTable.Column) -> String

    /// Returns a condition that two values of a column differ: texts byte by byte, NULL from every value.
    ///
    /// - Parameter exactly: true if equal values of two spellings differ, too: `1.0` and `1.00`, or 1 and 1.0.
    func differs(_ column: StoredTable.Column, _ left: String, from right: String, exactly: Bool) -> String

    /// Returns an expression for the value of a column under an alias, to be compared with one of another column as a foreign
    /// key compares them.
    func value(of column: StoredTable.Column, _ alias: String, comparedWith other: StoredTable.Column) -> String

    /// Returns a value of a column in a row of a query's result.
    func value(of column: StoredTable.Column, _ row: any SQLRow, _ index: Int) throws -> StoredValue

    /// Returns the text of a value whose spelling ``value(of:_:_:)`` does not show: `1.0` and `1.00` are one number; nil if it
    /// shows all values of the column as they are.
    func spelling(of column: StoredTable.Column, _ row: any SQLRow, _ index: Int) -> String?

    /// Returns a value in the form in which a statement binds it, to compare it with a column's values or to write it.
    ///
    /// - Parameter column: nil for a value of no column.
    func bound(_ value: StoredValue, for column: StoredTable.Column?) -> SQLText.Value

    // MARK: Staged rows

    /// The staging table, as SQL names it.
    func staged(_ table: StagingTable) -> String

    /// The table of staged records that were replaced by later ones: `record`, and the `row` that replaced it.
    func duplicates(of table: StagingTable) -> String

    /// The definition of a work table for rows of a staging table.
    func definition(of table: StagingTable) -> String

    /// Returns a condition that two rows, staged or stored, have one key; false without a key.
    func matches(_ table: StagingTable, _ left: String, _ right: String) -> String

    /// Returns a condition that a row under one alias is the row under the other: by key, or by every column, where two
    /// NULLs are the same.
    func isSameRow(_ table: StagingTable, _ stored: StoredTable, _ left: String, _ right: String) -> String

    /// Returns a condition on rows of the store that they are staged.
    func isStaged(_ table: StagingTable, _ stored: StoredTable) -> String

    /// The definition of the work table of a ``Difference``.
    var differenceDefinition: String { get }

    /// Returns a statement that notes the staged rows which are new or differ.
    func insertDifferences(
        into name: String, of part: StagedStack.Part, _ stored: StoredTable, _ options: DifferenceOptions
    ) throws -> SQLText

    /// Returns a statement that notes the rows of a table which are new or differ, and lists those that no staged row
    /// has; nil if the database finds the missing ones better by themselves, and only if their count says that there
    /// are any.
    ///
    /// - Parameter key: an expression for the key of a row of the store, in the form of the changelog.
    func insertWholeDifference(
        _ difference: Difference, _ missing: RowList, key: String, _ options: DifferenceOptions
    ) throws -> SQLText?

    /// Returns a condition that a row of the store is that of a row of a difference, `d` beside `s`.
    func isStoredRow(_ table: StagingTable, _ stored: StoredTable) -> String

    // MARK: Keys in the changelog

    /// Returns the key of a row in the form of the changelog: the value of the only column, a JSON array of several, or
    /// the place of a row without a key.
    func changelogKey(_ columns: [String], of table: StoredTable, _ alias: String) -> String

    /// Returns a condition that a key is one of a query for `key`s of the changelog. NULL is none of them.
    func isKey(_ key: String, among keys: String) -> String

    // MARK: Work tables

    /// Returns the definition of a list of rows: `id` in the order of the changes, the locators, the `key`.
    ///
    /// - Parameter columns: the definitions of further columns.
    func listDefinition(of table: StoredTable, isUnique: Bool, columns: [String]) -> String

    /// Returns a statement that adds rows to a list, each once where the list is unique.
    ///
    /// - Parameters:
    ///   - columns: the list's columns that the query fills.
    ///   - values: the query's expressions for them.
    ///   - rows: the FROM clause.
    ///   - order: the order in which they are listed.
    func append(to list: RowList, _ columns: [String], _ values: String, from rows: SQLText, order: String?) -> SQLText

    /// Returns the definition of a table of keys, `k0`, `k1` …, which holds each once.
    func keysDefinition(_ key: [StoredTable.Column], of table: StagingTable?, columns: [String]) -> String

    /// Returns a statement that adds rows to a table which holds each once.
    func insertNew(into table: String, _ columns: String, _ query: SQLText) -> SQLText

    /// Returns a query for the first of the `id`s of each `record` of a query.
    func firstOfEach(_ query: String) -> String

    /// Returns the condition of ``RowList/isRow(_:_:)``, by which the listed row is found: it uses the list's index.
    func isListed(_ list: RowList, _ row: String, _ listed: String) -> String

    // MARK: Before-images

    /// Returns the definition of a work table for rows of a table: `k0`, `k1` … for what locates a row, and these columns.
    func imagesDefinition(of table: StoredTable, columns: [String]) -> String

    /// Returns an item of a FROM clause with the first of a work table's rows of each key, by their `number`.
    func firstImages(of name: String, by key: String) -> String

    /// Returns an expression for a whole number that changes with any of these values.
    func digest(_ values: [String]) -> String

    // MARK: Changes of listed rows

    func deletion(of list: RowList) -> String

    /// Returns an update of listed rows.
    ///
    /// - Parameters:
    ///   - values: expressions with `g`, and with `s` where staged rows are joined.
    ///   - joined: a join of further tables to the list.
    ///   - isConstant: true if no value depends on the row.
    func update(_ list: RowList, _ values: [(column: String, value: SQLText)], joined: String, isConstant: Bool)
        -> SQLText

    // MARK: Conditions

    /// Returns a condition that a row's value is at least the smallest staged one, as a time if it is one.
    func isAtLeastTheSmallest(_ value: String, _ column: StoredTable.Column, of parts: String) -> String

    /// Returns a condition that a value of the store is not that of a scope, as the column compares them.
    func isOutside(_ value: String, _ column: StoredTable.Column, scope: String) -> SQLText

    /// Returns a condition that the text of a value has another text within, in upper or lower case.
    func contains(_ value: String, _ text: String) -> SQLText
}

/// How differences are found.
package struct DifferenceOptions {
    /// The column that marks rows as deleted, as SQL names it.
    package var deletionMark: String?
    /// True if values of two spellings differ, too.
    package var isExact = false

    /// The condition that a row of the store, `m`, is marked; nil if rows are not.
    package var isRestored: String? { deletionMark.map { "m.\($0) IS NOT NULL" } }
}

extension SQLDialect {
    /// Returns a statement that adds rows of a list to another list of the same table.
    ///
    /// - Parameter source: the FROM clause with the list as `g`; nil for all of its rows, in their order.
    package func append(_ rows: RowList, to list: RowList, from source: SQLText? = nil) -> SQLText {
        let columns = rows.located + ["key"]
        let values = columns.map { "g." + $0 }.joined(separator: ", ")
        return append(
            to: list, columns, values, from: source ?? SQLText("\(rows.name) g"), order: source == nil ? "g.id" : nil)
    }

    /// Returns a FROM clause with staged rows as `s` and the stored ones as `m` where they are the same.
    package func stagedAndStored(_ table: StagingTable, _ stored: StoredTable) -> String {
        "\(staged(table)) s \(join) \(stored.sql) m ON \(isSameRow(table, stored, "s", "m"))"
    }

    /// Returns a condition that a row has expired; nil if the table has no such column and need not have it.
    ///
    /// - Throws: ``StoreError`` for a column without dates.
    func hasExpired(_ expiry: Retention.Expiry, _ table: StoredTable, _ alias: String) throws -> String? {
        guard let column = table.column(expiry.column) else {
            if expiry.mayLackColumn { return nil }
            throw expiry.problem(type: nil)
        }
        guard holdsDates(column) else { throw expiry.problem(type: column.type) }
        return hasExpired(column, expiry, alias)
    }

    /// Returns the condition that a row of the store has expired, within the scope of the expiry.
    package func isExpired(_ expiry: Retention.Expiry, _ table: StoredTable, _ alias: String) throws -> String? {
        guard let hasExpired = try hasExpired(expiry, table, alias) else { return nil }
        let scope = try expiry.scope.sorted { $0.key < $1.key }.map {
            "\(alias).\(try table.needed($0.key).sql) = \(literal($0.value))"
        }
        return (scope + [hasExpired]).joinedConditions("AND")
    }

    /// Returns the conditions under which a staged row, `s`, changes the store's, `m`.
    package func differences(
        of staged: StagingTable, from stored: StoredTable, _ options: DifferenceOptions
    ) throws -> [String] {
        let columns = staged.updatesKnownRows ? staged.comparedColumns : []
        let differs = try columns.map(stored.needed).map {
            self.differs($0, "s.\($0.sql)", from: "m.\($0.sql)", exactly: options.isExact)
        }
        return differs + (options.isRestored.map { [$0] } ?? [])
    }

    /// Returns true if rows of some tables have expired.
    package func hasExpiredRows(
        _ expiries: [Retention.Expiry], _ session: any SQLSession, _ table: (String) throws -> StoredTable?
    ) throws -> Bool {
        try expiries.contains { expiry in
            guard let table = try table(expiry.table), let isExpired = try isExpired(expiry, table, "m") else {
                return false
            }
            return try session.isTrue(SQLText("SELECT EXISTS (SELECT 1 FROM \(table.sql) m WHERE \(isExpired))").once)
        }
    }
}
