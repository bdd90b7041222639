import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Deletions that wait until other rows have left the parents that are to be deleted.
extension Merge {
    /// Returns true if rows of this stack may leave a parent that the stack deletes. The parent then stays until they
    /// have left, and takes none of them along.
    func hasStagedChildren(_ table: TableInfo) throws -> Bool {
        let graph = try memory.foreignKeys(db)
        var visited: Set<String> = []
        var open = [table.name]
        while let parent = open.popLast() {
            guard visited.insert(parent.lowercased()).inserted else { continue }
            for reference in graph.references(to: parent) where reference.onDelete != nil {
                let isStaged = stack.parts.contains { part in
                    part.table.table.name == reference.child.name && part.counts.rows > 0
                        && part.table.identity != .none
                        && reference.columns.allSatisfy(part.table.supplies)
                }
                if isStaged { return true }
                if reference.onDelete == .cascade { open.append(reference.child.name) }
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
                "postponed_\(missing.located.count)_\(progress.postponed.count)",
                "\(located), key, PRIMARY KEY (\(located))")
            progress.postponed[missing.table.name] = postponed
        }
        try db.execute(
            cached: "INSERT OR IGNORE INTO \(postponed.name) SELECT \(located), key FROM \(missing.name) ORDER BY rowid"
        )
    }

    /// Deletes the rows of a table whose deletion was postponed.
    ///
    /// - Returns: true if there were any.
    func deletePostponedRows(of table: String) throws -> Bool {
        guard let missing = progress.postponed.removeValue(forKey: table) else { return false }
        try deleteLate(missing, told: missing)
        return true
    }

    /// Deletes rows after others have been merged, from which it may take some.
    func deleteLate(_ rows: ChangedRows, told: ChangedRows? = nil) throws {
        let before = progress.tablesTakenFrom
        progress.tablesTakenFrom = []
        progress.counts += try delete(rows, told: told)
        progress.tablesTakenFromLate.formUnion(progress.tablesTakenFrom)
        progress.tablesTakenFrom.formUnion(before)
    }

    /// Deletes all rows whose deletion was postponed, children before their parents.
    func deletePostponedRows() throws {
        while let table = try progress.postponed.keys.sorted().first(where: { try !hasPostponedChildren($0) })
            ?? progress.postponed.keys.min()
        {
            do {
                _ = try deletePostponedRows(of: table)
            } catch let error as DatabaseError where defersForeignKeys || !error.breaksForeignKey {
                throw StoreError(error, in: table)
            }
        }
    }

    func hasPostponedChildren(_ table: String) throws -> Bool {
        try memory.foreignKeys(db).references(to: table).contains { reference in
            reference.child.name.lowercased() != table.lowercased()
                && progress.postponed[reference.child.name] != nil
        }
    }
}
