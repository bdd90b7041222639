import FeedModel
import FeedStaging

/// Deletions that wait until other rows have left the parents.
struct PostponedDeletions {
    let merge: MergeContext

    /// Returns true if rows of this stack may leave a row of the table that the stack deletes.
    func mayBeLeft(_ table: StoredTable) throws -> Bool {
        var visited: Set<TableID> = []
        var open = [table]
        while let parent = open.popLast() {
            guard visited.insert(parent.id).inserted else { continue }
            for key in parent.children where key.holdsParents {
                let isStaged = try merge.stack.parts.contains { part in
                    try part.counts.rows > 0 && part.table.identity != .none
                        && merge.table(of: part.table).id == key.child && key.columns.allSatisfy(part.table.supplies)
                }
                if isStaged { return true }
                if key.onDelete == .cascade, let child = try merge.driver.table(id: key.child) { open.append(child) }
            }
        }
        return false
    }

    func hasChildren(of table: StoredTable) -> Bool {
        table.children.contains { $0.child != table.id && merge.state.postponed[$0.child] != nil }
    }

    func add(_ rows: RowList) throws {
        _ = try ChangeReport(merge: merge).deletions([rows])
        // They may have to give up unique values before they are deleted.
        try merge.images?.add(rows)
        let postponed =
            try merge.state.postponed[rows.table.id]
            ?? merge.makeList(merge.uniqueName("postponed"), of: rows.table, .delete)
        merge.state.postponed[rows.table.id] = postponed
        try merge.driver.execute(merge.dialect.append(rows, to: postponed))
    }

    /// Deletes the rows of a table.
    ///
    /// - Returns: true if there were any.
    func delete(from table: TableID) throws -> Bool {
        guard let rows = merge.state.postponed.removeValue(forKey: table) else { return false }
        // Other rows have been merged before; the deletion may take some of them.
        let state = merge.state
        let before = state.cascadedTables
        state.cascadedTables = []
        state.counts += try Deletions(merge: merge).delete(rows, alreadyReported: rows)
        state.cascadedTablesAfterMerge.formUnion(state.cascadedTables)
        state.cascadedTables.formUnion(before)
        return true
    }

    /// Deletes all rows whose deletion was postponed, children before their parents.
    func deleteAll() throws {
        while !merge.state.postponed.isEmpty {
            let waiting = merge.state.postponed.values.sorted { $0.table.name < $1.table.name }
            guard let next = waiting.first(where: { !hasChildren(of: $0.table) }) ?? waiting.first else { return }
            try merge.driver.refusing(in: next.table.name) { _ = try delete(from: next.table.id) }
        }
    }
}
