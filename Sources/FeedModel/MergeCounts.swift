/// What a commit did to the main store's rows.
public struct MergeCounts: Sendable, Equatable, Codable {
    public var inserted = 0
    public var updated = 0
    public var deleted = 0
    /// Rows of the feed that were already in the store as they are.
    public var unchanged = 0
    /// Rows of the feed that a later row of the same run with the same key replaced.
    public var replaced = 0

    public init() {}

    package static func += (left: inout MergeCounts, right: MergeCounts) {
        left.inserted += right.inserted
        left.updated += right.updated
        left.deleted += right.deleted
        left.unchanged += right.unchanged
        left.replaced += right.replaced
    }
}
