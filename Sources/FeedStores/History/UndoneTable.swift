/// A table some of whose rows an undo brings back, as the SQL of its store names it. In conditions, `h` is an entry of the
/// table's history, and `m` a row of the table.
package protocol UndoneTable {
    /// The history of the table.
    var sql: String { get }
    /// The table itself.
    var storedSQL: String { get }
    /// The history's columns by which entries of one row belong together.
    var groupColumns: [String] { get }
    /// An expression for the key of an entry's row, for people.
    func key(_ alias: String) -> String
    /// Returns a condition that a row of the table is the one of an entry.
    func isRow(_ row: String, _ entry: String) -> String
    /// Returns an expression for the digest of the row that an entry keeps; NULL where there was none.
    func digest(ofEntry alias: String, width: Int) -> String
    /// Returns an expression for the digest of a row of the table; NULL where an outer join has found none.
    func digest(ofStored alias: String, width: Int?) -> String
}
