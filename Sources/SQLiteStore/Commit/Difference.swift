import FeedStaging
import FeedStores

/// The staged rows of a part that are new or differ from the store's.
struct Difference: CountedDifference {
    /// The definition of the merge's table in which they are noted.
    static let columns =
        "id INTEGER PRIMARY KEY, row INTEGER NOT NULL, is_new INTEGER NOT NULL, target INTEGER, is_back INTEGER"

    var part: StagedStack.Part
    /// The merge's table in which they are noted: `row`, `is_new`, `target`, which is the row id of the store's row, and
    /// `is_back`, which is true where that row is marked as gone.
    var name: String
    /// A suffix that tells the merge's tables for this difference from those for others of the same table.
    var suffix: String
    var new: Int
    /// Rows that the store has, and that differ or are marked as gone.
    var updated: Int
    /// Those of the updated rows that are marked as gone.
    var back = 0
    /// Rows that were marked as gone and no longer are, where rows are compared whole.
    var takenBack = 0

    var table: StagingTable { part.table }

    /// The operations that the journal has for the updated rows, with their conditions.
    var operations: [(name: String, condition: String)] {
        var operations = [("update", back > 0 ? "NOT d.is_new AND NOT d.is_back" : "NOT d.is_new")]
        if back > 0 { operations.append(("insert", "d.is_back")) }
        return operations
    }

    /// A FROM clause with this difference as `d` and the staged rows as `s`.
    var rows: String { "\(name) d CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = d.row" }

    /// The FROM clause of ``rows``, with the store's rows as `m`.
    var storedRows: String {
        let isRow = table.table.rowID.map { "m.\($0) = d.target" } ?? table.matches("m", "s")
        return "\(rows) CROSS JOIN \(table.qualifiedTable) m ON \(isRow)"
    }
}
