package import Foundation

/// What the last runs of a source did, for those who look at many sources at once.
package struct RecentRuns: Sendable, Equatable {
    package struct Run: Sendable, Equatable {
        package var number: Int64
        package var outcome: RunOutcome
        package var startedAt: Date
        /// The rows that it inserted, updated or deleted.
        package var changedRows: Int

        package init(number: Int64, outcome: RunOutcome, startedAt: Date, changedRows: Int) {
            self.number = number
            self.outcome = outcome
            self.startedAt = startedAt
            self.changedRows = changedRows
        }
    }

    /// The last runs, the latest last.
    package var runs: [Run] = []
    /// The rows of the documents of the last commit; nil where it is forgotten, or there was none.
    package var rows: Int?
    /// The rows that changed since the time that was asked for.
    package var changedRows = 0

    package init() {}
}
