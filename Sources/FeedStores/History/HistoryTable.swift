/// The table that keeps what commits replaced in a table of the store: `tributary_history_T` for the table `T`.
///
/// It has one row for each row that a commit has changed. Beside the columns named here it has those of the table, with
/// their values before the commit; of a new row, only those of its key.
package enum HistoryTable {
    package static let prefix = "tributary_history_"

    /// The number of the entry; it grows with time for each row.
    package static let id = "tributary_id"
    package static let run = "tributary_run"
    /// `insert`, `update` or `delete`.
    package static let operation = "tributary_operation"
    /// The row id of the changed row, where the store has one.
    package static let row = "tributary_row"
    /// A digest of the row after the commit; NULL if it was deleted.
    package static let after = "tributary_after"
    /// The number of columns over which the digest is: the first ones of the table's that the history has.
    package static let width = "tributary_width"
    /// The time of the commit.
    package static let time = "tributary_time"

    package static func name(of table: String) -> String { prefix + table }

    /// A pattern of LIKE for the names of histories in any case, with `\\` as the escape character.
    package static let pattern = prefix.replacing("_", with: "\\_") + "%"

    package static func isHistory(_ name: String) -> Bool { name.hasPrefix(prefix) }

    /// The columns that are not the table's own.
    package static let ownColumns = [id, run, operation, row, after, width, time]
}
