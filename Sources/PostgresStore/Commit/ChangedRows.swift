import FeedStaging
import FeedStores

/// Rows of one table that a statement is about to change. They are listed in a table of the merge: the columns that
/// locate each row, its key in the form that the journal stores, and a number, `id`, in the order of the changes.
struct ChangedRows {
    enum Change: String {
        case delete, update
    }

    var table: TableDetails
    var change: Change
    /// The columns that are updated.
    var columns: [String] = []
    /// The table that holds `id`, `k0`, `k1` … and `key`.
    var name: String

    /// The columns that locate a row, as the merge's table names them.
    var located: [String] { Self.located(table) }

    static func located(_ table: TableDetails) -> [String] { table.locator.indices.map { "k\($0)" } }

    /// The definition of such a table.
    ///
    /// - Parameters:
    ///   - isUnique: true where it holds each row once.
    ///   - isNumbered: false where whoever fills it gives the numbers. A sequence takes longer to make than the table.
    static func definition(_ table: TableDetails, isUnique: Bool, isNumbered: Bool = true) -> String {
        let columns = zip(located(table), table.locator).map { "\($0) \($1.definition)" }
        let unique = isUnique ? ", UNIQUE (\(located(table).joined(separator: ", ")))" : ""
        let id = isNumbered ? "id bigint GENERATED ALWAYS AS IDENTITY" : "id bigint NOT NULL"
        return "\(id), \(columns.joined(separator: ", ")), key text\(unique)"
    }

    /// Returns a condition that a store row under one alias is a changed row under the other.
    func isRow(_ row: String, _ changed: String) -> String {
        zip(located, table.locator).map { "\(changed).\($0) = \(row).\($1.sql)" }.joined(separator: " AND ")
    }
}
