/// Rows of one table that a statement is about to change, in a table of the merge: what locates each, and its key as the
/// journal keeps it.
struct ChangedRows {
    enum Change: String {
        case delete, update
    }

    var table: TableInfo
    var change: Change
    /// The columns that are updated.
    var columns: [String] = []
    /// The table that holds `k0`, `k1` … and `key`.
    var name: String

    /// The columns that locate a row, as the merge's table names them.
    var located: [String] { Self.located(table) }

    static func located(_ table: TableInfo) -> [String] { table.locator.indices.map { "k\($0)" } }

    /// Whether a row of the store under one alias is one of these under the other. The merge's column stands on the left:
    /// values are then compared byte by byte, by its index.
    func isRow(_ row: String, _ changed: String) -> String {
        zip(located, table.locator).map { "\(changed).\($0) = \(row).\($1)" }.joinedConditions("AND")
    }
}
