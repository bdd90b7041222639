import FeedStaging

/// The staged rows of a part that are new or differ from the store's.
struct Difference {
    var part: StagedStack.Part
    /// The merge's table in which they are noted: `row`, `is_new`, and `target`, which is the row id of the store's
    /// row.
    var name: String
    /// A suffix that tells the merge's tables for this difference from those for others of the same table.
    var suffix: String
    var new: Int
    var updated: Int

    var table: StagingTable { part.table }

    /// A FROM clause with this difference as `d` and the staged rows as `s`.
    var rows: String { "\(name) d CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = d.row" }

    /// The FROM clause of ``rows``, with the store's rows as `m`.
    var storedRows: String {
        let isRow = table.table.rowID.map { "m.\($0) = d.target" } ?? table.matches("m", "s")
        return "\(rows) CROSS JOIN \(table.qualifiedTable) m ON \(isRow)"
    }
}
