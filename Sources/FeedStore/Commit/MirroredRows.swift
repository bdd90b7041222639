/// Rows that a stack claims whole: those that it does not send are deleted.
package struct MirroredRows: Sendable, Hashable {
    package var table: String
    package var scope: [String: String]

    package init(table: String, scope: [String: String]) {
        self.table = table
        self.scope = scope
    }
}
