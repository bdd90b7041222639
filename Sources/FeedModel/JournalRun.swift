package import Foundation

/// A recorded run, as those see it who follow the journal.
package struct JournalRun: Sendable, Equatable {
    package var position: RunPosition
    /// Without the reports of its requests.
    package var report: RunReport
    /// The ids among which its part of the journal is; nil where it has changed nothing. On a server, rows of other runs
    /// may be among them.
    package var changes: ClosedRange<Int64>?

    package init(position: RunPosition, report: RunReport, changes: ClosedRange<Int64>?) {
        self.position = position
        self.report = report
        self.changes = changes
    }

    package var finishedAt: Date { report.startedAt + report.seconds }
}
