import FeedModel

/// A row that a commit has moved out of a scope: its values, before, in the scope's columns.
struct MovedRow: Hashable {
    var table: String
    /// By the columns' names in lower case.
    var values: [String: ComparedValue]
}
