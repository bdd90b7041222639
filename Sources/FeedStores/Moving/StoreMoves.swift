package import FeedStaging

/// What makes a store's content another store's.
package protocol StoreMoves: AnyObject, Sendable {
    /// The store as messages name it: a file's path, or a server and its database. Without any password.
    var name: String { get }

    /// Returns a text that identifies this store, by whatever name it was opened.
    func identity() throws -> String

    /// Runs a body on a snapshot of the store.
    ///
    /// - Throws: ``StoreError``, and the errors of the body.
    func snapshot(_ body: (any TransferReader) throws -> Void) throws

    /// Runs a body in one transaction, which is committed at its end, while no other session writes to Tributary's
    /// tables.
    ///
    /// - Throws: ``StoreError``, and the errors of the body; the store is then unchanged.
    func receive(_ body: (any TransferWriter) throws -> Void) throws

    /// Drops tables that were made to receive rows, all of them or none.
    ///
    /// - Parameters:
    ///   - names: the tables. One with rows is refused.
    ///   - areAll: true if Tributary's own tables are dropped, too.
    /// - Throws: ``StoreError``
    func dropEmptyTables(_ names: [String], andOwn areAll: Bool) throws
}

/// A snapshot of a store.
///
/// - Throws: each method ``StoreError``.
package protocol TransferReader {
    /// Returns the existing tables among these names, by the requested name.
    func tables(named names: Set<String>) throws -> [String: StoredTable]

    /// Returns the number of a table's rows.
    func count(_ table: StoredTable) throws -> Int

    /// Passes on the rows of a table one by one, in the same order each time. A row's values are gone with the next.
    func forEachRow(
        of table: StoredTable, _ columns: [String], _ body: (TransferRow) throws -> Void
    ) throws

    /// Returns the states of all requests. Validators are included only while their rows exist.
    func requests() throws -> [RequestRow]
}

/// The transaction in which a store receives another one's content.
package protocol TransferWriter: TransferReader {
    /// Keeps all others from writing to tables until the transaction ends.
    func lock(_ tables: [StoredTable]) throws

    /// Writes rows to an empty table.
    ///
    /// - Parameter rows: calls its argument with each row, whose values are in the order of the part's columns.
    /// - Throws: ``StoreError``, ``TransferProblem``, and the errors of `rows`.
    func write(_ part: TransferPlan.Part, _ rows: ((TransferRow) throws -> Void) throws -> Void) throws

    /// Writes the states of requests, after their rows.
    func write(_ requests: [RequestRow]) throws

    /// Checks the references of the written rows, and sets generated numbers to continue after theirs.
    func finish(_ tables: [StoredTable]) throws
}

/// A row that a store cannot take.
package struct TransferProblem: Error {
    /// The row's number, from 1.
    package var row: Int
    package var column: String?
    package var message: String

    package init(row: Int, column: String? = nil, message: String) {
        self.row = row
        self.column = column
        self.message = message
    }
}
