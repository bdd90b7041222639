import FeedModel
import FeedStaging
import FeedStores

/// The locks of a merge on the tables that it writes.
extension PostgresMergeDriver {
    func lock(_ tables: [StoredTable]) throws {
        try lock(tables.map { MirroredRows(table: $0.name, scope: [:], window: nil) })
    }

    /// Locks every table that the merge may write against other writers until the transaction ends, in the order of their
    /// names, and checks that they are still as they were when rows were staged. Readers do not wait.
    ///
    /// - Throws: ``StoreError`` naming the tables that have changed.
    func lock(_ mirrors: [MirroredRows], _ retention: Retention = Retention()) throws {
        var locked: Set<String> = []
        while true {
            let new = try Set(writtenTables(mirrors, retention).map(\.sql)).subtracting(locked)
            guard !new.isEmpty else { break }
            let lock = "LOCK TABLE \(new.sorted().joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE"
            try connection.executeScript("\(PostgresStore.setting(PostgresStore.silence)); \(lock)", line: nil)
            locked.formUnion(new)
            // While the locks were waited for, a table may have got another child.
            try tables.renew()
        }
        try tables.check(stack.parts.map(\.table.table))
    }

    private func writtenTables(_ mirrors: [MirroredRows], _ retention: Retention) throws -> [StoredTable] {
        let staged = try stack.writtenTables.map { try details(of: $0) }
        let others = mirrors.map(\.table) + retention.writtenTables
        return try tables.withChildren(staged + others.compactMap { try tables.table($0) })
    }
}
