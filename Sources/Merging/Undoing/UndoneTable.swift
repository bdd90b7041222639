/// A table some of whose rows an undo brings back, and its history. In conditions, `h` is an entry of the history, and `m` a
/// row of the table.
package protocol UndoneTable {
    var stored: any StoredTable { get }
    /// The history, as SQL names it.
    var sql: String { get }
    /// The history's columns for those of the table, in the order in which it has got them.
    var columns: [String] { get }
    /// The columns that now hold values of another type in the table.
    var retyped: [String] { get }
    /// The history's columns by which entries of one row belong together, as SQL names them.
    var groupColumns: [String] { get }

    /// Returns the columns by which the merge tells the rows apart.
    ///
    /// - Throws: ``StoreError`` where there are none.
    func mergeKey() throws -> [String]

    /// Returns true where the history has these columns, and those that tell its rows apart.
    func hasColumns(of key: [String]) -> Bool

    /// Returns an expression for the key of an entry's row, for people.
    func key(_ alias: String) -> String

    /// Returns a condition that a row of the table is the one of an entry.
    func isRow(_ row: String, _ entry: String) -> String

    /// Returns the same for a row that has been brought back, which may have got another place.
    func isRestoredRow(_ row: String, _ entry: String) throws -> String

    /// Returns a condition that the row of an entry has another key than the merge knows it by; nil where it cannot.
    func hasOtherKey(_ row: String, _ entry: String) throws -> String?

    /// Returns a condition that an outer join has found a row of the table.
    func isThere(_ alias: String) -> String

    /// Returns an expression for the digest of the row that an entry keeps; NULL where there was none.
    func digest(ofEntry alias: String, width: Int) -> String

    /// Returns an expression for the digest of a row of the table; NULL where an outer join has found none.
    func digest(ofStored alias: String, width: Int?) -> String
}
