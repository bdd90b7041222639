import FeedStaging

/// Rows of one table that a statement is about to change. They are listed in a table of the merge: the columns that
/// locate each row, and its key in the form that the journal stores.
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

    /// Returns a condition that a store row under one alias is a changed row under the other. The merge's column stands
    /// on the left, so that values are compared byte by byte, using its index.
    func isRow(_ row: String, _ changed: String) -> String {
        zip(located, table.locator).map { "\(changed).\($0) = \(row).\($1)" }.joinedConditions("AND")
    }
}
