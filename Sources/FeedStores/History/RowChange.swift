package import FeedModel
package import Foundation

/// A change of a row that a run has made.
package struct RowChange: Sendable {
    package typealias Values = [(column: String, value: StoredValue)]

    /// The place of a change in a history. Reading continues after it without passing over the changes before it.
    package struct Place: Sendable, Equatable {
        package var run: Int64
        /// The history, as SQL names it.
        package var history: String
        /// The number of the history's entry.
        package var entry: Int64

        package init(run: Int64, history: String, entry: Int64) {
            self.run = run
            self.history = history
            self.entry = entry
        }
    }

    package var run: Int64
    package var source: String
    package var startedAt: Date
    package var table: String
    /// `insert`, `update` or `delete`.
    package var operation: String
    /// The columns that identify the row, with their values.
    package var key: Values
    /// The row before; nil for a new one.
    package var old: Values?
    /// The row after; nil for one that is gone, and where ``isKnown`` is false.
    package var new: Values?
    /// False if something else has changed the row since, so that the run's result is unknown.
    package var isKnown: Bool
    package var place: Place?

    package init(
        run: Int64, source: String, startedAt: Date, table: String = "", operation: String = "", key: Values = [],
        old: Values? = nil, new: Values? = nil, isKnown: Bool = true
    ) {
        self.run = run
        self.source = source
        self.startedAt = startedAt
        self.table = table
        self.operation = operation
        self.key = key
        self.old = old
        self.new = new
        self.isKnown = isKnown
    }
}

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
