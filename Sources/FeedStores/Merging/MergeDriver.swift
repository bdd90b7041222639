package import FeedModel
package import FeedStaging

/// A store's side of a merge: one transaction, in which it runs the statements of the merge, describes tables, and
/// writes rows in its own way.
///
/// A merge uses it on one thread. The merge decides which rows are written; the driver decides how.
package protocol MergeDriver: AnyObject, SQLSession {
    var dialect: any SQLDialect { get }
    /// The number of the run.
    var run: Int64 { get }
    /// The staged rows, in the tables in which the driver finds them.
    var stack: StagedStack { get }
    /// True to restore rows exactly, including their spelling and types: `1.0` and `1.00`, or 1 and 1.0, are equal
    /// numbers.
    var isExact: Bool { get }
    /// Keeps before-images; nil without a history.
    var beforeImages: BeforeImages? { get }
    /// The histories of the store's tables, in this transaction.
    var histories: any HistoryCatalog { get }

    /// Prepares the transaction, before anything is merged.
    func begin(_ merge: MergeContext) throws

    /// Checks the constraints that the merge has deferred.
    func checkConstraints() throws

    /// Ends the merge: no work table is used any more.
    func end() throws

    /// Locks tables, and those whose rows change along with theirs, against other writers. Readers do not wait.
    func lock(_ tables: [StoredTable]) throws

    // MARK: Tables

    /// Returns a table of the store in this transaction; nil if it does not exist.
    func table(_ name: String) throws -> StoredTable?
    func table(id: TableID) throws -> StoredTable?

    /// Returns true if triggers or rules may change rows when those of the table are changed.
    func hasTriggers(_ table: StoredTable) throws -> Bool

    /// Makes an empty work table, or empties the one of this name and definition. It does not outlive the merge's rows.
    ///
    /// - Returns: the name in SQL.
    func makeTable(_ name: String, _ definition: String) throws -> String

    /// Makes a work table of the rows of a query, in place of an earlier one.
    func makeTable(_ name: String, of query: String) throws -> String

    /// Updates the planner's statistics of a work table.
    func analyze(_ table: String) throws

    // MARK: Errors

    /// Adds the table's name to errors of the database about its rows.
    func refusing<Value>(in table: String?, _ body: () throws -> Value) throws -> Value

    /// Runs one statement so that nothing of it stays where it fails.
    func atomically<Value>(_ statement: () throws -> Value) throws -> Value

    func isUniqueViolation(_ error: any Error) -> Bool

    /// Returns the error for a value that must be unique and is not.
    func uniqueViolation(_ error: any Error, in table: StagingTable, hint: String) -> any Error

    // MARK: Rows

    /// Keeps the last of staged rows with one key, once their references have been resolved.
    func indexKey(of part: StagedStack.Part) throws

    /// Indexes staged rows by the columns that identify them, before their references are resolved or rows are looked up by
    /// a key that has no index yet.
    func indexIdentity(of part: StagedStack.Part) throws

    /// Sets a reference to the primary key of the row of the store with its values. If several match, rows that are
    /// not marked as deleted come first, then the lowest primary key; NULL without a match.
    ///
    /// - Parameter isStaying: conditions that a row of the store, `t`, stays.
    func lookUp(_ reference: StagedReference, of part: StagedStack.Part, isStaying: SQLText, mark: String?) throws

    /// Notes the parts that have each key, and the numbers of their rows, in a work table.
    func overlaidKeys(of parts: [StagedStack.Part], in table: StoredTable) throws -> OverlaidKeys

    /// Stages the rows of a combination of parts as one row a key.
    ///
    /// - Returns: the table of these rows.
    func stage(_ rows: OverlaidRows, in table: StoredTable) throws -> StagingTable

    /// Inserts rows, and writes them to the changelog, the history and the report.
    ///
    /// - Returns: the number of rows that the table has then: a trigger may drop some.
    func insert(_ rows: Insertion, in merge: MergeContext) throws -> Int

    /// Updates the rows of a difference, and writes them to the changelog.
    ///
    /// - Parameter remaining: the rows of the table that are yet to be updated, with these.
    /// - Returns: the number of rows.
    func update(_ rows: Difference, of remaining: ArraySlice<Difference>, in merge: MergeContext) throws -> Int

    /// Deletes listed rows.
    ///
    /// - Parameter cascaded: all rows that are changed along.
    /// - Returns: the number of listed rows that it has deleted: a trigger may keep some.
    func delete(_ rows: RowList, with cascaded: [RowList], in merge: MergeContext) throws -> Int

    // MARK: Unique values

    /// True if a statement that writes these rows may violate a unique constraint other than the key.
    func mayConflict(_ table: StagingTable, _ stored: StoredTable) throws -> Bool

    /// The columns of unique constraints, in lower case.
    func uniqueColumns(of table: StoredTable) throws -> Set<String>

    /// Runs a body that writes NULL into unique columns.
    ///
    /// - Returns: the body's result; false, and nothing is written, if the table refuses the rows.
    func vacating(_ body: () throws -> Bool) throws -> Bool
}

extension MergeDriver {
    /// Returns the merge of the stack.
    ///
    /// - Parameters:
    ///   - mirrors: the rows that requests mirror, even where they staged none of them this time.
    ///   - retention: what becomes of rows that the feed no longer has.
    ///   - claims: notified of rows that leave the scopes of requests.
    ///   - removals: rows to delete, whatever is staged.
    ///   - onChange: called with each change before it is made.
    ///   - changelogKey: returns the declared key of a table that the stack has no rows of.
    package func merge(
        mirrors: [MirroredRows] = [], retention: Retention = Retention(), claims: ClaimWatch? = nil,
        removals: [Removal] = [], onChange: ((PlannedChange) throws -> Void)? = nil,
        changelogKey: @escaping (String) -> [String]? = { _ in nil }
    ) -> Merge {
        Merge(
            MergeContext(
                driver: self, mirrors: mirrors, retention: retention, claims: claims, onChange: onChange,
                changelogKey: changelogKey),
            removals: removals)
    }
}

/// Rows to insert.
package struct Insertion {
    package var part: StagedStack.Part
    package var table: StoredTable
    package var count: Int
    /// The FROM clause, with the staged rows as `s`.
    package var rows: String
    package var order: String
    /// The rows of the table that are yet to be updated.
    package var remaining: ArraySlice<Difference> = []

    package init(
        part: StagedStack.Part, table: StoredTable, count: Int, rows: String, order: String,
        remaining: ArraySlice<Difference> = []
    ) {
        self.part = part
        self.table = table
        self.count = count
        self.rows = rows
        self.order = order
        self.remaining = remaining
    }
}
