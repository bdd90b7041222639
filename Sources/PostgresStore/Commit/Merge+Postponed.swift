import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// Deletions that wait until other rows have left the parents that are to be deleted.
extension Merge {
    /// Returns true if rows of this stack may leave a parent that the stack deletes. The parent then stays until they
    /// have left, and takes none of them along.
    func hasStagedChildren(_ table: TableDetails) throws -> Bool {
        var visited: Set<String> = []
        var open = [table]
        while let parent = open.popLast() {
            guard visited.insert(parent.sql).inserted else { continue }
            for reference in parent.referringKeys where reference.holdsParents {
                let isStaged = try stack.parts.contains { part in
                    try part.counts.rows > 0 && part.table.identity != .none
                        && details(of: part.table.table.name).oid == reference.child
                        && reference.columns.allSatisfy(part.table.supplies)
                }
                if isStaged { return true }
                if reference.onDelete == .cascade, let child = try tables.table(id: reference.child) {
                    open.append(child)
                }
            }
        }
        return false
    }

    func postpone(_ missing: ChangedRows) throws {
        _ = try tellTaken([missing])
        // They may have to step aside before they are deleted.
        try keep(missing)
        let located = missing.located.joined(separator: ", ")
        var postponed = missing
        if let known = progress.postponed[missing.table.name] {
            postponed = known
        } else {
            postponed.name = try workTable(
                "postponed_\(progress.number())", ChangedRows.definition(missing.table, isUnique: true))
            progress.postponed[missing.table.name] = postponed
        }
        try connection.execute(
            """
            INSERT INTO \(postponed.name) (\(located), key) SELECT \(located), key FROM \(missing.name) ORDER BY id
            ON CONFLICT DO NOTHING
            """)
    }

    /// Deletes the rows of a table whose deletion was postponed.
    ///
    /// - Returns: true if there were any.
    func deletePostponedRows(of table: String) throws -> Bool {
        guard let missing = progress.postponed.removeValue(forKey: table) else { return false }
        let before = progress.tablesTakenFrom
        progress.tablesTakenFrom = []
        progress.counts += try delete(missing, told: missing)
        progress.tablesTakenFromLate.formUnion(progress.tablesTakenFrom)
        progress.tablesTakenFrom.formUnion(before)
        return true
    }

    /// Deletes all rows whose deletion was postponed, children before their parents.
    func deletePostponedRows() throws {
        while let table = try progress.postponed.keys.sorted().first(where: { try !hasPostponedChildren($0) })
            ?? progress.postponed.keys.min()
        {
            try refusing(in: table) { _ = try deletePostponedRows(of: table) }
        }
    }

    func hasPostponedChildren(_ table: String) throws -> Bool {
        let parent = try details(of: table)
        return parent.referringKeys.contains { reference in
            reference.child != parent.oid
                && progress.postponed.values.contains { $0.table.oid == reference.child }
        }
    }
}
