import FeedModel
import FeedStaging
import GRDB

/// Rows that are deleted because somebody names them, and not because a feed lacks them.
extension Merge {
    struct Removal {
        var table: TableInfo
        /// The table that holds `k0` … for the place of each row.
        var name: String
    }

    func deleteRemovals() throws -> MergeCounts {
        try childrenFirst(removals).reduce(into: MergeCounts()) { counts, removal in
            let table = removal.table
            let located = ChangedRows.located(table)
            let missing = ChangedRows(
                table: table, change: .delete,
                name: try workTable("missing_\(located.count)", "\(located.joined(separator: ", ")), key"))
            try db.execute(
                cached: """
                    INSERT INTO \(missing.name)
                    SELECT \(located.map { "g." + $0 }.joined(separator: ", ")), \(table.journalKey("m", among: stack))
                    FROM \(removal.name) g CROSS JOIN main.\(table.name.sqlIdentifier) m ON \(missing.isRow("m", "g"))
                    """)
            counts += try deleteWhenPossible(missing)
        }
    }

    private func childrenFirst(_ removals: [Removal]) throws -> [Removal] {
        let graph = try memory.foreignKeys(db)
        return removals.ordered { removal in
            let children = Set(graph.references(to: removal.table.name).map(\.child.name))
            return removals.indices.filter { children.contains(removals[$0].table.name) }
        }
    }
}
