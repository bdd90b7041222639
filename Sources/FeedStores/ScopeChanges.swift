package import FeedModel
package import FeedStaging

/// The changes of each scope that a commit mirrors or updates, as its merge counts them.
package struct ScopeChanges: Sendable {
    fileprivate struct Counts {
        var deleted = 0
        /// True if the merge has looked at every row that it may delete, and not only at those with the feed's keys.
        var readsAll = false
        /// Rows that the feed has and the store had, different or not.
        var known = 0
        var updated = 0
        var inserted = 0
    }

    private var counts: [ScopedRows: Counts] = [:]

    package init() {}

    /// - Parameter readsAll: true if the merge has looked at every row that it may delete, as a mirror does.
    package mutating func add(deleted: Int, of rows: ScopedRows, readsAll: Bool = true) {
        counts[rows, default: Counts()].deleted += deleted
        if readsAll { counts[rows]?.readsAll = true }
    }

    package mutating func add(_ counts: MergeCounts, of part: StagedStack.Part) {
        add(inserted: counts.inserted, updated: counts.updated, unchanged: counts.unchanged, of: part)
    }

    /// - Parameter unchanged: rows that the store has as the feed has them.
    package mutating func add(inserted: Int, updated: Int = 0, unchanged: Int = 0, of part: StagedStack.Part) {
        let rows = ScopedRows(table: part.table.table.name, scope: part.table.scope)
        counts[rows, default: Counts()].inserted += inserted
        counts[rows, default: Counts()].updated += updated
        counts[rows, default: Counts()].known += updated + unchanged
    }

    /// The changes of each table, by its name.
    package var byTable: [String: MergeCounts] {
        counts.reduce(into: [:]) { tables, scope in
            tables[scope.key.table, default: MergeCounts()] += MergeCounts(
                inserted: scope.value.inserted, updated: scope.value.updated, deleted: scope.value.deleted)
        }
    }

    /// Checks the counts against the limits, and that nothing else blocks the commit.
    ///
    /// - Parameters:
    ///   - limits: of some scopes; the others have none.
    ///   - count: returns the number of a scope's rows after the merge. It is called if the merge has not read all
    ///     rows.
    ///   - unmet: the expectations that the rows do not meet.
    ///   - accepted: the accepted changes of the blocked run; nil without any.
    ///   - isAcceptedInAdvance: returns true if the commit may make any changes.
    /// - Throws: ``StoreError`` of the code `blocked`, naming the tables, the figures and the limits.
    package func check(
        _ limits: [ScopedRows: ChangeLimits], unmet: [ExceededLimit], accepted: [ExceededLimit]?,
        count: (ScopedRows) throws -> Int,
        isAcceptedInAdvance: () throws -> Bool
    ) throws {
        let changes = try exceeded(limits, count)
        let exceeded = unmet + changes
        let isCovered = exceeded.allSatisfy { limit in accepted?.contains { $0.covers(limit) } ?? false }
        guard !isCovered, try !isAcceptedInAdvance() else { return }
        let change = changes.isEmpty ? [] : ["the commit would " + changes.map(\.message).joined(separator: ", and ")]
        var error = StoreError(.blocked, (unmet.map(\.message) + change).joined(separator: "; "))
        error.exceeded = exceeded
        throw error
    }

    private func exceeded(
        _ limits: [ScopedRows: ChangeLimits], _ count: (ScopedRows) throws -> Int
    ) throws -> [ExceededLimit] {
        var exceeded: [ExceededLimit] = []
        let inOrder = counts.sorted { ($0.key.table, $0.key.text) < ($1.key.table, $1.key.text) }
        for (rows, counts) in inOrder {
            guard let limits = limits[rows] else { continue }
            let seen = counts.deleted + counts.known
            // A declared limit holds for a feed without records, too.
            let isEmptied =
                limits.allowsEmpty && limits.deleted == .half && counts.known + counts.inserted == 0
            /// Adds a limit if the changes are more than it allows of the rows that were looked at, and of all rows.
            func add(_ verb: String, _ changed: Int, _ key: String, _ limit: ChangeLimit?, readsAll: Bool) throws {
                guard let limit, changed > 0, limit.isExceeded(by: changed, of: seen) else { return }
                let all = readsAll ? seen : max(seen, try count(rows) - counts.inserted + counts.deleted)
                guard limit.isExceeded(by: changed, of: all) else { return }
                exceeded.append(rows.exceeded(counts, verb, changed, of: all, key, limit))
            }
            // A mirror looks at every row of the scope, except those before a window.
            if !isEmptied {
                try add("delete", counts.deleted, "max_deleted", limits.deleted, readsAll: counts.readsAll)
            }
            try add("update", counts.updated, "max_changed", limits.changed, readsAll: false)
        }
        return exceeded
    }
}

extension ScopedRows {
    fileprivate func exceeded(
        _ counts: ScopeChanges.Counts, _ verb: String, _ changed: Int, of all: Int, _ key: String, _ limit: ChangeLimit
    ) -> ExceededLimit {
        ExceededLimit(
            self, deleted: counts.deleted, updated: counts.updated,
            "\(verb) \(changed) of the \(all) rows of table '\(table)'" + (scope.isEmpty ? "" : " with \(text)")
                + ", which is more than \(key) = \(limit) allows")
    }

    /// The scope for users: `shop = 'a', region = 'north'`.
    fileprivate var text: String {
        scope.sorted { $0.key < $1.key }.map { "\($0.key) = '\($0.value)'" }.joined(separator: ", ")
    }
}
