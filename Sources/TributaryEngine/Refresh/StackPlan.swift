package import FeedModel
import FeedStaging
package import FeedStores

/// The changes that a run would make, and the unmapped parts of its documents.
package struct StackPlan: Sendable {
    package typealias Unmatched = UnmatchedPath

    package var counts = MergeCounts()
    package var skipped = 0
    /// The reasons for which records are skipped, with the number of records of each.
    package var skipReasons: [String] = []
    package var requests: [RequestReport] = []
    package var elements: [Unmatched] = []
    package var columns: [Unmatched] = []
    /// Notes on rows that a commit would leave out, with reasons.
    package var notes: [String] = []

    /// The reason why a run would be blocked; nil if it would be committed.
    package var blocked: String?

    /// A digest of the documents and the declaration of a replay.
    package var basis: ChangeDigest?

    /// True if a commit would change anything.
    package var differs: Bool { counts.inserted + counts.updated + counts.deleted > 0 }
}
