import FeedModel
import FeedStores
import TributaryEngine

/// Rows that a run has changed, from what to what where that is kept.
struct RunChanges {
    /// The most changes of a run among which those of an operation or a table are searched.
    static let mostSearched = 100_000

    let hasHistory: Bool
    let hasMore: Bool
    /// True where the search ended before the last change.
    let isCut: Bool
    let changes: [ChangeView]

    /// Reads them; blocks its thread.
    ///
    /// - Parameters:
    ///   - limit: the most changes to read.
    ///   - count: the number of all changes of the run.
    /// - Throws: `StoreError`.
    init(_ run: Int64, _ part: ChangePart, limit: Int, of count: Int, in store: any MainStore) throws {
        hasHistory = try store.read { try $0.runs.hasHistory(run) }
        var found: [ChangeView] = []
        var passed = 0
        func add(_ change: () -> ChangeView) -> Bool {
            if passed < part.from {
                passed += 1
                return true
            }
            found.append(change())
            return found.count <= limit
        }
        if hasHistory {
            var query = ChangeQuery(run: run, table: part.table)
            query.operation = part.operation
            query.mostSearched = part.isSearch ? Self.mostSearched : nil
            query.passedOver = part.from
            passed = part.from
            try store.changes(query, while: { change in add { ChangeView(change) } })
        } else if let journal = try store.read({ try $0.changelog.run(run) }) {
            var last: Int64 = 0
            var left = part.isSearch ? Self.mostSearched : .max
            var isOpen = true
            while isOpen, left > 0 {
                let next = try store.read {
                    try $0.changelog.changes(of: journal, after: last, limit: min(1_000, left))
                }
                guard let end = next.last?.id else { break }
                for change in next
                where isOpen && part.matches(table: change.table, operation: change.operation) {
                    isOpen = add { ChangeView(change, of: run) }
                }
                last = end
                left -= next.count
            }
        }
        hasMore = found.count > limit
        isCut = part.isSearch && !hasMore && count > Self.mostSearched
        found = Array(found.prefix(limit))
        found.distinguish()
        changes = found
    }
}
