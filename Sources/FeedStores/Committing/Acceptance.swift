package import Foundation

/// The permission of one source to delete and update more rows than its declaration allows, given by `accept`.
package struct Acceptance: Sendable, Equatable {
    package var source: String
    /// The blocked run whose documents may be committed; nil if the source's next commit may do anything.
    package var run: Int64?
    /// The time after which the permission is forgotten.
    package var until: Date

    /// The time for which a permission waits for its run, in seconds.
    private static let seconds = 86_400.0

    package init(source: String, run: Int64?, until: Date) {
        self.source = source
        self.run = run
        self.until = until
    }

    package init(source: String, run: Int64?, from now: Date) {
        self.init(source: source, run: run, until: now + Self.seconds)
    }

    /// The effect of a run's record on its source's permission.
    package enum Use: Sendable {
        /// It stays as it is.
        case none
        /// It ends where it was given for a blocked run, which is over.
        case endsForBlockedRun
        /// It ends, whatever it was given for.
        case ends
        /// It counts for the recorded run, which was blocked with the documents that were accepted.
        case movesToRun
    }
}
