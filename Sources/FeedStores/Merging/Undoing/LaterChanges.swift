import FeedModel

/// Finds out whether the rows of changes have changed since.
///
/// The changelog has no index of rows, so it is read to its end: once for a part of ``idsAtOnce`` changes, however many
/// pages of that part are asked for.
package final class LaterChanges: Sendable {
    /// The last changes of the rows in a part of the changelog.
    private struct Part: Sendable {
        var ids: ClosedRange<Int64>
        /// The position up to which runs have been read.
        var position: RunPosition
        /// The last change of each row that has several, by the hash value of its table and key. Should two rows have
        /// one hash value, which is improbable, the older changes of both count as followed by later ones.
        var last: [Int: Int64]
    }

    /// The number of ids in a part.
    private static let idsAtOnce: Int64 = 100_000
    /// The number of new changes after which a part is read again.
    private static let mostNew = 20_000
    /// The most parts that are kept. Several readers may be at different places.
    private static let mostParts = 4

    private struct State: Sendable {
        var parts: [Part] = []
        var passes = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The number of times that the changelog has been read to its end.
    package var passes: Int { state.withLock(\.passes) }

    /// Returns the ids of those changes whose row a later change concerns.
    ///
    /// - Parameter ids: the first and the last id of the changes.
    func changed(
        among changes: [ChangelogEntry], ids: ClosedRange<Int64>, _ changelog: Changelog
    ) throws -> Set<Int64> {
        let part = try part(of: ids, changelog)
        var new: [Int: Int64] = [:]
        try changelog.forEachRow(of: ids, changedAfter: part.position) { table, key, last in
            new[Self.hash(table, key)] = last
        }
        let later = changes.filter { change in
            let hash = Self.hash(change.table, change.key)
            return max(part.last[hash] ?? 0, new[hash] ?? 0) > change.id
        }
        return Set(later.map(\.id))
    }

    private func part(of ids: ClosedRange<Int64>, _ changelog: Changelog) throws -> Part {
        let known = state.withLock { state in
            state.parts.last { $0.ids.contains(ids.lowerBound) && $0.ids.contains(ids.upperBound) }
        }
        if let known, try changelog.changes(after: known.position) <= Self.mostNew { return known }
        // One transaction reads both, so that no run between the two is missed.
        let position = try changelog.lastPosition()
        let all = ids.lowerBound...max(ids.upperBound, ids.lowerBound + Self.idsAtOnce - 1)
        var part = Part(ids: all, position: position, last: [:])
        try changelog.forEachRepeatedRow(of: all) { table, key, last in part.last[Self.hash(table, key)] = last }
        state.withLock { [part] state in
            state.parts.removeAll { $0.ids.contains(ids.lowerBound) }
            state.parts.append(part)
            if state.parts.count > Self.mostParts { state.parts.removeFirst() }
            state.passes += 1
        }
        return part
    }

    private static func hash(_ table: String, _ key: StoredValue) -> Int {
        var hasher = Hasher()
        hasher.combine(table)
        hasher.combine(key)
        return hasher.finalize()
    }
}
