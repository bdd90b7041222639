import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// The locks of a merge on the tables that it writes.
extension PostgresMergeDriver {
    /// Locks every table that the merge may write against other writers, in the order of their names, and checks that
    /// they are still as they were when rows were staged. Readers do not wait.
    ///
    /// - Parameter turn: taken first.
    /// - Throws: ``StoreError`` naming the tables that have changed.
    func lock(_ turn: TableTurn, _ mirrors: [MirroredRows], _ retention: Retention) throws {
        var locked: Set<String> = []
        while true {
            let new = try Set(writtenTables(mirrors, retention).map(\.sql)).subtracting(locked)
            guard !new.isEmpty else { break }
            if locked.isEmpty {
                try turn.take(new)
                try connection.execute(LockWaits.setting(LockWaits.silence))
            }
            try connection.execute(
                "LOCK TABLE \(new.sorted().joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE")
            locked.formUnion(new)
            // While the locks were waited for, a table may have got another child.
            try tables.renew()
        }
        try tables.check(stack.parts.map(\.table.table))
    }

    private func writtenTables(_ mirrors: [MirroredRows], _ retention: Retention) throws -> [TableDetails] {
        let staged = try stack.parts.filter { $0.counts.rows > 0 || $0.table.sync == .mirror }.map { part in
            try details(of: part.table.table.name)
        }
        let others = mirrors.map(\.table) + retention.writtenTables
        return try tables.withChildren(staged + others.compactMap { try tables.table($0) })
    }
}
