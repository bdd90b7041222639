import FeedModel

/// A row that a commit has moved out of a scope: its former values in the scope's columns.
struct MovedRow: Hashable {
    var table: String
    /// By the columns' names in lower case.
    var values: [String: ComparedValue]
}
