package import FeedModel
import FeedStore

/// What a run would change, and what its documents hold that nothing takes.
package struct StackPlan: Sendable {
    package typealias Unmatched = UnmatchedPath

    package var counts = MergeCounts()
    package var skipped = 0
    package var requests: [RequestReport] = []
    package var elements: [Unmatched] = []
    package var columns: [Unmatched] = []

    /// Whether a commit would change anything.
    package var differs: Bool { counts.inserted + counts.updated + counts.deleted > 0 }
}
