package import FeedModel
import FeedStaging
package import FeedStores

/// The changes that a run would make, and the parts of its documents that nothing takes.
package struct StackPlan: Sendable {
    package typealias Unmatched = UnmatchedPath

    package var counts = MergeCounts()
    package var skipped = 0
    package var requests: [RequestReport] = []
    package var elements: [Unmatched] = []
    package var columns: [Unmatched] = []
    /// What a commit would not do, and why.
    package var notes: [String] = []

    /// The reason for which a run would be blocked; nil where it would be committed.
    package var blocked: String?

    /// What tells the documents and the declaration of a replay from others.
    package var basis: ChangeDigest?

    /// True if a commit would change anything.
    package var differs: Bool { counts.inserted + counts.updated + counts.deleted > 0 }
}
