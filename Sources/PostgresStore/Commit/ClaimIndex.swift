import FeedModel
import FeedStaging
import FeedStores

/// What a commit asks of the requests that have written each table, inside its transaction.
protocol ClaimIndex {
    /// Returns the sets of columns, in lower case, by which rows of a table are told apart. Each set is that of some
    /// scope.
    func scopeColumns(of table: String) throws -> [Set<String>]

    /// Returns how a table compares these columns, and those named by the scopes of requests that have written it.
    func comparison(of table: String, _ columns: Set<String>) throws -> TableComparison

    /// Returns the requests whose scope a row has left.
    func requests(losing row: MovedRow) throws -> Set<RequestID>
}
