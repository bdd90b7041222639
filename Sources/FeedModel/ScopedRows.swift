/// The rows of a table that have the values of a scope.
package struct ScopedRows: Sendable, Hashable {
    /// The table's name, in lower case.
    package let table: String
    package let scope: [String: String]

    package init(table: String, scope: [String: String]) {
        self.table = table.lowercased()
        self.scope = scope
    }
}
