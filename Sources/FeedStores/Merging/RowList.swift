package import FeedStaging

/// Rows of one table that a statement is about to change, listed in a work table: `id` in the order of the changes, `k0`,
/// `k1` … for the columns that locate a row, and its `key` in the form of the changelog.
package struct RowList {
    package enum Change: Sendable {
        case delete, update
    }

    package var table: StoredTable
    package var change: Change
    /// The columns that are updated.
    package var columns: [String] = []
    /// The work table.
    package var name: String

    /// The columns that locate a row, as the work table names them.
    package var located: [String] { Self.located(table) }

    package static func located(_ table: StoredTable) -> [String] { table.locator.indices.map { "k\($0)" } }

    /// Returns a condition that a row of the store under one alias is a listed one under the other, by which the row of
    /// the store is found. The list's column stands on the left, so that SQLite compares values byte by byte.
    package func isRow(_ row: String, _ listed: String) -> String {
        zip(located, table.locator).map { "\(listed).\($0) = \(row).\($1.sql)" }.joinedConditions("AND")
    }

    /// Returns a FROM clause with the list as `g` and the store's rows as `m`.
    package func stored(_ dialect: any SQLDialect) -> String {
        "\(name) g \(dialect.join) \(table.sql) m ON \(isRow("m", "g"))"
    }

    /// Returns a condition that a listed row, `g`, is not in another list of the same table.
    func isNotIn(_ other: RowList) -> String {
        let isSame = located.map { "x.\($0) = g.\($0)" }.joinedConditions("AND")
        return "NOT EXISTS (SELECT 1 FROM \(other.name) x WHERE \(isSame))"
    }
}
