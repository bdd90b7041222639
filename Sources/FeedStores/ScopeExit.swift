package import FeedModel

/// A row that a commit has moved out of a scope: its former values in the scope's columns.
package struct ScopeExit: Hashable {
    package var table: String
    /// By the columns' names in lower case.
    package var values: [String: ComparedValue]

    package init(table: String, values: [String: ComparedValue]) {
        self.table = table
        self.values = values
    }
}
