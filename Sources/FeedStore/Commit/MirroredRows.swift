/// Rows that a stack claims whole: those that it does not send are deleted.
package struct MirroredRows: Sendable, Hashable {
    package var table: String
    package var scope: [String: String]
    package var window: MirrorWindow?

    package init(table: String, scope: [String: String], window: MirrorWindow? = nil) {
        self.window = window
        self.table = table
        self.scope = scope
    }
}
