import FeedStaging
import FeedStores

/// The staged rows of a part that are new or differ from the store's.
struct Difference: CountedDifference {
    /// The definition of the merge's table in which they are noted.
    static let columns = "id bigint NOT NULL, row bigint NOT NULL, is_new boolean NOT NULL, is_back boolean"

    var part: StagedStack.Part
    /// The store's table, as SQL names it.
    var stored: String
    /// The merge's table in which they are noted.
    var name: String
    /// A suffix that tells the merge's tables for this difference from those for others of the same table.
    var suffix: String
    var new: Int
    /// Rows that the store has, and that differ or are marked as gone.
    var updated: Int
    /// Those of the updated rows that are marked as gone: `is_back` is true of them.
    var back = 0
    /// Rows that were marked as gone and no longer are, where rows are compared whole.
    var takenBack = 0

    var table: StagingTable { part.table }

    /// A FROM clause with this difference as `d` and the staged rows as `s`.
    var rows: String { "\(name) d JOIN \(table.staged) s ON s.\(StagingTable.row) = d.row" }

    /// The FROM clause of ``rows``, with the store's rows as `m`. Only rows with a key are updated.
    var storedRows: String { "\(rows) JOIN \(stored) m ON \(table.matches("m", "s"))" }
}
