package import Foundation

/// A query for row changes.
package struct ChangeQuery: Sendable {
    /// nil for those of all sources.
    package var source: String?
    /// Only this run's.
    package var run: Int64?
    /// Only those of runs that began at this time or later.
    package var since: Date?
    package var table: String?
    /// `insert`, `update` or `delete`; nil for all.
    package var operation: String?
    /// The most changes of a run and table among which those of the operation are searched; nil for all.
    package var mostSearched: Int?
    /// The number of changes to skip at the start.
    package var passedOver = 0
    /// Only those after this one; nil for all.
    package var after: RowChange.Place?

    package init(source: String? = nil, run: Int64? = nil, since: Date? = nil, table: String? = nil) {
        self.source = source
        self.run = run
        self.since = since
        self.table = table
    }
}
