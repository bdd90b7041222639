/// Rows that a stack claims whole: those that it does not send are deleted.
package struct MirroredRows: Sendable, Hashable {
    package var table: String
    package var scope: [String: String]
    /// The column whose smallest value bounds the deletions.
    package var window: String?

    package init(table: String, scope: [String: String], window: String? = nil) {
        self.window = window
        self.table = table
        self.scope = scope
    }
}
