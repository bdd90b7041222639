package import GRDB

/// The main store's side of staging.
///
/// Its methods block their thread: none is called from the cooperative pool.
package protocol StagingStore: AnyObject, Sendable {
    /// The folder of scratch databases and of bodies that wait to be read.
    var workFolder: String { get }

    /// - Throws: ``StoreError`` if the store has no such table.
    func tableInfo(_ name: String) throws -> StoredTable

    /// Returns every table except Tributary's and the store's own.
    func tables() throws -> [StoredTable]

    /// Returns a stored row of a table whose columns have these values. Staged rows are not read.
    func storedRow(of table: String, _ values: [(column: String, value: DatabaseValue)]) throws -> Row?

    /// Attaches a database with the store's tables to a scratch database's connection, as the schema `store`. Called
    /// once for each scratch database.
    func attachStoredTables(to scratch: Database) throws

    /// Makes sure that the attached tables hold the stored rows which a query may read. Called before each read of
    /// staged and stored rows.
    func provideStoredRows(_ request: StoredRowsRequest, to scratch: Database) throws

    /// Numbers the keys of staged rows that the store may consider equal although their bytes differ.
    ///
    /// - Parameters:
    ///   - tables: staging tables of one table of the store, with one key.
    ///   - path: the scratch database that has them.
    ///   - body: called for each row with the position of its table, its id, and a number from 1 that rows with equal
    ///     keys share.
    /// - Throws: ``StoreError`` for a value that the store cannot hold.
    func numberKeys(
        of tables: [StagingTable], inScratch path: String, _ body: (Int, Int64, Int64) throws -> Void) throws

    /// Runs a query, written in the store's SQL, over the staged rows of a run, in the schema `staged`, and the stored
    /// ones, in the schema `main`. Every table of the store is in both.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of rows returned; zero if only the columns are wanted.
    /// - Throws: ``StoreError`` if the query cannot be run, or writes.
    func rows(_ query: String, limit: Int, staged: StagedView) throws -> QueriedRows
}

/// The stored rows that a parser's query may read.
package enum StoredRowsRequest {
    /// Those of a table whose columns have these values, by the columns' names.
    case matching(table: String, values: [(column: String, value: DatabaseValue)])
    /// All rows of every table for which the closure returns true.
    case tables(where: (String) throws -> Bool)
}

/// The rows that a run has staged so far, in a scratch database that only this view uses while it is open.
package struct StagedView {
    package var database: DatabaseQueue
    package var stagings: [StagingTable]
}

/// The result of a query.
package struct QueriedRows {
    /// In lower case.
    package var columns: [String]
    /// The values by column, as text; nil for NULL. Blobs are hexadecimal digits.
    package var rows: [[String: String?]]
    /// True if the query reads tables of the store, whose rows may be of any earlier run.
    package var isOfStore: Bool

    package init(columns: [String], rows: [[String: String?]], isOfStore: Bool) {
        self.columns = columns
        self.rows = rows
        self.isOfStore = isOfStore
    }
}
