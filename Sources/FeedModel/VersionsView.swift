/// The view `T_versions` of a table `T` with a history.
package enum VersionsView {
    /// The columns before those of the table.
    package static let ownColumns = ["valid_from", "valid_to", "run"]

    package static func name(of table: String) -> String { table + "_versions" }

    /// Returns the mistake that something else has the name of a table's view.
    package static func isTaken(of table: String) -> Finding {
        Finding(
            "the view '\(name(of: table))', which would show the versions of table '\(table)', has the name of another table",
            help: "rename that table, or set keep_history = true")
    }
}
