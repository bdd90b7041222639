import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// Rows that are deleted because somebody names them, and not because a feed lacks them.
extension Merge {
    struct Removal {
        var table: TableDetails
        /// The table that holds `k0` … for the key of each row.
        var name: String
    }

    func deleteRemovals() throws -> MergeCounts {
        try childrenFirst(removals).reduce(into: MergeCounts()) { counts, removal in
            let table = removal.table
            try refusing(in: table.name) {
                let located = ChangedRows.located(table)
                let missing = ChangedRows(
                    table: table, change: .delete,
                    name: try workTable(
                        "missing_\(progress.number())",
                        ChangedRows.definition(table, isUnique: false, isNumbered: false)))
                try connection.execute(
                    """
                    INSERT INTO \(missing.name) (id, \(located.joined(separator: ", ")), key)
                    SELECT row_number() OVER (), \(located.map { "g." + $0 }.joined(separator: ", ")), \(journalKey(of: table, "m"))
                    FROM \(removal.name) g JOIN \(table.sql) m ON \(missing.isRow("m", "g"))
                    """)
                try connection.execute("ANALYZE \(missing.name)")
                counts += try deleteWhenPossible(missing)
            }
        }
    }

    private func childrenFirst(_ removals: [Removal]) -> [Removal] {
        removals.ordered { removal in
            let children = Set(removal.table.referringKeys.map(\.child))
            return removals.indices.filter { children.contains(removals[$0].table.oid) }
        }
    }
}
