package import FeedModel
import FeedStore

/// What a run would change, and what its documents hold that nothing takes.
package struct StackPlan: Sendable {
    /// A path of elements, or an attribute, that no mapping takes, or a column that found nothing.
    package struct Unmatched: Sendable, Encodable {
        package var request: String
        package var path: String
        package var count: Int
    }

    package var counts = MergeCounts()
    package var skipped = 0
    package var requests: [RequestReport] = []
    package var elements: [Unmatched] = []
    package var columns: [Unmatched] = []

    /// Whether a commit would change anything.
    package var differs: Bool { counts.inserted + counts.updated + counts.deleted > 0 }
}
