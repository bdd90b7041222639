import FeedStaging
import FeedStores

/// The staged rows of a part that are new or differ from the store's.
struct Difference {
    /// The definition of the merge's table in which they are noted.
    static let columns = "id bigint NOT NULL, row bigint NOT NULL, is_new boolean NOT NULL"

    var part: StagedStack.Part
    /// The store's table, as SQL names it.
    var stored: String
    /// The merge's table in which they are noted.
    var name: String
    /// A suffix that tells the merge's tables for this difference from those for others of the same table.
    var suffix: String
    var new: Int
    var updated: Int

    var table: StagingTable { part.table }

    /// A FROM clause with this difference as `d` and the staged rows as `s`.
    var rows: String { "\(name) d JOIN \(table.staged) s ON s.\(StagingTable.row) = d.row" }

    /// The FROM clause of ``rows``, with the store's rows as `m`. Only rows with a key are updated.
    var storedRows: String { "\(rows) JOIN \(stored) m ON \(table.matches("m", "s"))" }
}
