package import FeedModel
package import FeedStaging

/// The staged rows of a part that are new or differ from the store's.
///
/// They are noted in a work table: `id` in their order, the `row` of the staged row, `is_new`, and `is_restored`,
/// which is true if the row of the store is marked as deleted.
package struct Difference {
    package var part: StagedStack.Part
    package var stored: StoredTable
    /// Distinguishes the part from others of the same table.
    package var number: Int
    /// The work table.
    package var name: String
    /// Rows that the store lacks.
    package var new: Int
    /// Rows that the store has, and that differ or are marked as deleted.
    package var updated: Int
    /// Those of the updated rows that are marked as deleted.
    package var restored = 0
    /// Rows that were marked as deleted and no longer are, where rows are compared whole.
    package var restoredWhole = 0

    package var table: StagingTable { part.table }

    package var unchanged: Int { max(0, part.counts.rows - new - updated - restoredWhole) }

    /// The changes of the part's rows. A restored row counts as inserted.
    package var counts: MergeCounts {
        MergeCounts(inserted: new + restored + restoredWhole, updated: updated - restored, unchanged: unchanged)
    }

    /// The columns that existing rows get from the staged ones. In unchanged rows, only marks are cleared.
    package var updatedColumns: [String] { table.updatesKnownRows ? table.comparedColumns : [] }

    /// Returns a FROM clause with this difference as `d` and the staged rows as `s`.
    package func rows(_ dialect: any SQLDialect) -> String {
        "\(name) d \(dialect.join) \(dialect.staged(table)) s ON s.\(StagingTable.row) = d.row"
    }

    /// Returns the FROM clause of ``rows(_:)``, with the store's rows as `m`. Only rows with a key are updated.
    package func storedRows(_ dialect: any SQLDialect) -> String {
        "\(rows(dialect)) \(dialect.join) \(stored.sql) m ON \(dialect.isStoredRow(table, stored))"
    }
}

extension StagingTable {
    /// True if rows that the store has get the staged values.
    package var updatesKnownRows: Bool { sync == .upsert || sync == .mirror }

    /// Returns true if a known row gets the value of the staged one.
    func updates(_ column: String) -> Bool { updatesKnownRows && !insertOnly.contains(column.lowercased()) }
}
