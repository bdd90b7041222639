package import FeedModel
package import FeedStaging

/// The context of every step of a merge: the driver, the staged rows, and the state so far.
package struct MergeContext {
    package let driver: any MergeDriver
    /// The rows that requests mirror, even where they staged none of them this time.
    package let mirrors: [MirroredRows]
    /// What becomes of rows that the feed no longer has.
    package let retention: Retention
    /// Notified of rows that leave the scopes of requests.
    package let claims: ClaimWatch?
    /// Called with each change before it is made.
    package let onChange: ((PlannedChange) throws -> Void)?
    /// Returns the columns by which the changelog names rows of a table that the stack has no rows of, by its name:
    /// none for its primary key, nil if they are unknown.
    package let changelogKey: (String) -> [String]?
    package let state = MergeState()

    package var dialect: any SQLDialect { driver.dialect }
    package var run: Int64 { driver.run }
    package var stack: StagedStack { driver.stack }
    package var images: BeforeImages? { driver.beforeImages }

    /// Returns the store's table of staged rows, or one that the stack is known to have.
    package func table(_ name: String) throws -> StoredTable {
        guard let table = try driver.table(name) else {
            throw StoreError(.schema, "the store no longer has the table '\(name)'")
        }
        return table
    }

    package func table(of staged: StagingTable) throws -> StoredTable { try table(staged.table.name) }

    /// Returns the column that marks a table's rows as deleted, as SQL names it; nil if they are deleted.
    package func deletionMark(of table: StoredTable) throws -> String? {
        guard let column = retention.deletionMark(of: table.name) else { return nil }
        try retention.check(table, has: column)
        return try table.needed(column).sql
    }

    /// Returns the column with which any source marks a table's rows as deleted, as SQL names it; nil without one.
    func anyDeletionMark(of table: StoredTable) throws -> String? {
        try deletionMark(of: table) ?? retention.allMarks[table.name.lowercased()].flatMap(table.column)?.sql
    }

    package func deletionMark(of table: StagingTable) throws -> String? {
        try retention.deletionMarks.isEmpty ? nil : deletionMark(of: self.table(of: table))
    }

    // MARK: - Work tables

    /// Returns a name that no other work table of the merge has.
    package func uniqueName(_ name: String) -> String { "\(name)_\(state.nextNumber())" }

    /// Makes an empty list of rows.
    package func makeList(
        _ name: String, of table: StoredTable, _ change: RowList.Change, columns: [String] = [],
        isUnique: Bool = true, adding definitions: [String] = []
    ) throws -> RowList {
        let definition = dialect.listDefinition(of: table, isUnique: isUnique, columns: definitions)
        return RowList(table: table, change: change, columns: columns, name: try driver.makeTable(name, definition))
    }

    /// Lists rows of a FROM clause.
    ///
    /// - Parameter alias: the name of the store's rows in it.
    /// - Returns: the number of rows that were not listed.
    @discardableResult
    package func append(
        to list: RowList, from rows: SQLText, order: String? = nil, alias: String = "m"
    ) throws -> Int {
        try driver.execute(
            dialect.append(
                to: list, list.located + ["key"],
                "\(list.table.locators(alias)), \(changelogKey(of: list.table, alias))", from: rows, order: order))
    }

    package func count(_ rows: String) throws -> Int { try driver.count("SELECT count(*) FROM \(rows)") }

    // MARK: - The changelog

    /// Writes rows of a FROM clause to the changelog.
    ///
    /// - Parameters:
    ///   - key: an expression for the row's key, in the form of the changelog.
    ///   - rows: the FROM clause, with its conditions and an order.
    /// - Returns: their number.
    @discardableResult
    package func log(_ operation: String, _ table: String, key: String, from rows: SQLText) throws -> Int {
        try driver.execute(
            """
            INSERT INTO \(dialect.changelog) (run, "table", key, operation)
            SELECT \(bind: run), \(dialect.literal(table)), \(key), \(dialect.literal(operation)) FROM \(rows)
            """)
    }

    /// Returns the key of a merged row in the form of the changelog. A row without a key is named by its primary key, or
    /// else by its place.
    package func changelogKey(of staged: StagingTable, _ table: StoredTable, _ alias: String) -> String {
        dialect.changelogKey(
            staged.keyColumns.isEmpty ? table.primaryKey : staged.keyColumns, of: table, alias)
    }

    /// Returns the key of a row that is about to be deleted, or changed along with another, in the form in which its
    /// insertion was written.
    package func changelogKey(of table: StoredTable, _ alias: String) -> String {
        let keyed = stack.parts.first { !$0.table.keyColumns.isEmpty && $0.table.table.name == table.name }
        return dialect.changelogKey(keyed?.table.keyColumns ?? declaredKey(of: table), of: table, alias)
    }

    private func declaredKey(of table: StoredTable) -> [String] {
        if let known = state.changelogKeys[table.id] { return known }
        let declared = changelogKey(table.name) ?? []
        let columns = declared.compactMap { table.column($0)?.name }
        let key = columns.isEmpty || columns.count < declared.count ? table.primaryKey : columns
        state.changelogKeys[table.id] = key
        return key
    }
}

/// The findings and the postponed work of a merge.
///
/// A class because the merge's steps share it; one merge uses it, on one thread.
package final class MergeState {
    /// Rows to be deleted once everything is in place, by their table.
    var postponed: [TableID: RowList] = [:]
    /// The counts of these deletions.
    var counts = MergeCounts()
    /// The rows that differ, by their table, where they have been found along with the missing ones.
    var wholeDifferences: [TableID: WholeDifference] = [:]
    /// The changes of each limited scope.
    package var changes = ScopeChanges()
    /// Tables whose rows foreign keys have deleted or changed along with those of another table.
    package var cascadedTables: Set<String> = []
    /// Tables of which stored rows have expired. Limits do not count these.
    package var expiredTables: Set<String> = []
    /// Those of the cascaded tables some of whose rows may have been merged before.
    var cascadedTablesAfterMerge: Set<String> = []
    /// Tables and scopes of staged rows that another part of the stack has partly taken.
    package var outOfScopeRows: Set<MirroredRows> = []
    /// The tables of all keys that are staged for a table.
    var stagedKeys: [TableID: String] = [:]
    /// The tables of staged rows that have expired, by the staged rows' name. The feed has them, so they are in its window.
    var expired: [String: [String]] = [:]
    /// The tables of the keys of rows that the merge has written, by table and key columns.
    var written: [String: String] = [:]
    /// The columns by which the changelog names the rows of tables without staged rows.
    var changelogKeys: [TableID: [String]] = [:]
    /// The staging tables all references of whose rows have been looked up: one that is NULL stays NULL.
    var resolved: Set<String> = []
    private var lastNumber = 0

    func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }
}
