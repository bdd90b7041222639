package import Foundation

/// A source whose last run was not good.
package struct FailingSource: Sendable, Equatable {
    package var source: String
    /// When the first run began of those that have failed one after another.
    package var since: Date
    /// Why the last one has failed.
    package var error: String?

    package init(source: String, since: Date, error: String?) {
        self.source = source
        self.since = since
        self.error = error
    }
}
