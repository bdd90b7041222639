/// Counts of the rows that a commit changed, or left unchanged, in the main store.
public struct MergeCounts: Sendable, Equatable, Codable {
    public var inserted = 0
    public var updated = 0
    public var deleted = 0
    /// Rows of the feed that the store already had with the same values.
    public var unchanged = 0
    /// Rows of the feed that a later row with the same key replaced in the same run.
    public var replaced = 0
    /// Rows of the feed that were not merged because they have expired. A run counts them with the records that it skips.
    package var skipped = 0

    /// The number of rows that a commit has changed.
    package var changed: Int { inserted + updated + deleted }

    private enum CodingKeys: CodingKey {
        case inserted, updated, deleted, unchanged, replaced
    }

    public init(inserted: Int = 0, updated: Int = 0, deleted: Int = 0, unchanged: Int = 0, replaced: Int = 0) {
        self.inserted = inserted
        self.updated = updated
        self.deleted = deleted
        self.unchanged = unchanged
        self.replaced = replaced
    }

    /// - Parameter changes: the numbers of changed rows by operation, as in the changelog.
    package init(changes: [(operation: String, rows: Int)]) {
        for (operation, rows) in changes {
            switch operation {
            case "insert": inserted += rows
            case "update": updated += rows
            case "delete": deleted += rows
            default: break
            }
        }
    }

    package static func -= (left: inout MergeCounts, right: MergeCounts) { left.combine(right, -=) }

    package static func += (left: inout MergeCounts, right: MergeCounts) { left.combine(right, +=) }

    private mutating func combine(_ other: MergeCounts, _ change: (inout Int, Int) -> Void) {
        change(&inserted, other.inserted)
        change(&updated, other.updated)
        change(&deleted, other.deleted)
        change(&unchanged, other.unchanged)
        change(&replaced, other.replaced)
        change(&skipped, other.skipped)
    }
}
