import FeedModel
import FeedStores
import Foundation

/// Rows that a run has changed, from what to what where that is kept.
struct RunChanges {
    /// Which of them.
    struct Part {
        var table: String?
        /// `insert`, `update` or `delete`; nil for all.
        var operation: String?
        /// The number of changes to pass over.
        var from = 0
        var limit: Int
    }

    let hasHistory: Bool
    let hasMore: Bool
    let changes: [ChangeView]

    /// Reads them; blocks its thread.
    ///
    /// - Throws: `StoreError`.
    init(_ run: Int64, _ part: Part, in store: any MainStore) throws {
        hasHistory = try store.hasHistory(run: run)
        var found: [ChangeView] = []
        var passed = 0
        func add(_ operation: String, _ change: (String) -> ChangeView) -> Bool {
            guard part.operation == nil || part.operation == operation else { return true }
            if passed < part.from {
                passed += 1
                return true
            }
            found.append(change("change-\(found.count)"))
            return found.count <= part.limit
        }
        if hasHistory {
            var query = ChangeQuery(run: run, table: part.table)
            if part.operation == nil {
                query.passedOver = part.from
                passed = part.from
            }
            try store.changes(query, while: { change in add(change.operation) { ChangeView(change, id: $0) } })
        } else if let journal = try store.run(run) {
            var last: Int64 = 0
            var isOpen = true
            while isOpen {
                let next = try store.changes(of: journal, after: last, limit: 1_000)
                guard let end = next.last?.id else { break }
                for change in next where isOpen && (part.table == nil || part.table == change.table) {
                    isOpen = add(change.operation) { ChangeView(change, id: $0) }
                }
                last = end
            }
        }
        hasMore = found.count > part.limit
        changes = Array(found.prefix(part.limit))
    }
}
