package import FeedStaging

/// Rows of several shapes with one key. A column that several of them have comes from the latest, by request and then by
/// document. A column that only one has comes from that one.
struct Overlay {
    let merge: MergeContext
    let parts: [StagedStack.Part]

    /// Returns parts with the same rows but no key in common: one for each combination of parts that have rows of one key.
    func combined(of table: StoredTable) throws -> [StagedStack.Part] {
        guard case .key = parts[0].table.identity else { return parts }
        let keys = try merge.driver.overlaidKeys(of: parts, in: table)
        return try keys.combinations.enumerated().map { number, combination in
            let members = combination.members.map { parts[$0] }
            // No other part has a key of these rows.
            if members.count == 1, members[0].counts.rows == combination.rows { return members[0] }
            let shape = OverlaidShape(combination.members, of: parts)
            merge.state.outOfScopeRows.formUnion(shape.outOfScopeRows)
            let combined = OverlaidRows(
                parts: parts, members: combination.members, shape: shape, keys: keys.name, number: number)
            let counts = StagedCounts()
            counts.rows = combination.rows
            return StagedStack.Part(
                table: try merge.driver.stage(combined, in: table), counts: counts,
                isSorted: members.contains { $0.isSorted }, batches: [])
        }
    }
}

/// The keys of several parts, in a work table of the driver's.
package struct OverlaidKeys {
    package var name: String
    /// Each combination of parts that have rows of one key, by their positions, and the number of such keys.
    package var combinations: [(members: [Int], rows: Int)]

    package init(name: String, combinations: [(members: [Int], rows: Int)]) {
        self.name = name
        self.combinations = combinations
    }
}

/// The rows of the keys that some parts have and no other part has.
package struct OverlaidRows {
    package let parts: [StagedStack.Part]
    /// The positions of the parts that have rows of these keys.
    package let members: [Int]
    package let shape: OverlaidShape
    /// The work table of the keys.
    package let keys: String
    /// The number of this combination of parts.
    package let number: Int
}
