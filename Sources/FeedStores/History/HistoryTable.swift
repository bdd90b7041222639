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

    package static func name(of table: String) -> String { prefix + table }

    /// The name of a history that ended when a column of the table got another type.
    package static func formerName(of table: String, _ number: Int) -> String { "\(formerPrefix)\(number)_\(table)" }

    private static let formerPrefix = "tributary_former"

    /// Returns true for the name of a history that has ended.
    package static func isFormer(_ name: String) -> Bool { table(ofFormer: name) != nil }

    /// Returns the table of a history that has ended; nil for other names.
    package static func table(ofFormer name: String) -> String? {
        guard name.hasPrefix(formerPrefix) else { return nil }
        let rest = name.dropFirst(formerPrefix.count)
        let table = rest.drop(while: \.isWholeNumber)
        guard table.startIndex > rest.startIndex, table.first == "_" else { return nil }
        return String(table.dropFirst())
    }

    /// A pattern of LIKE for the names of all tables that may be histories, with `\\` as the escape character.
    package static let patterns = [prefix, formerPrefix].map { $0.replacing("_", with: "\\_") + "%" }

    /// Returns true for the name of a history, of a table that changes or of one that has ended.
    package static func isHistory(_ name: String) -> Bool { name.hasPrefix(prefix) || isFormer(name) }

    /// The columns that are not the table's own.
    package static let ownColumns = [id, run, operation, row, after, width]
}
