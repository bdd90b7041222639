/// The counts of the rows that were written to a staging table.
///
/// `@unchecked Sendable`: changed only on the queue of the database in which the rows are staged. This is the scratch
/// database's queue, or the store's once that database is closed.
package final class StagedCounts: @unchecked Sendable {
    /// Distinct rows, once the stack has been prepared for the merge.
    package var rows = 0
    /// True if numbered records were replaced by later ones with the same key.
    package var hasDuplicates = false
    /// Rows that a later row with the same key replaced.
    package var replaced = 0
    /// NULLs in each column, by its position.
    package var nulls: [Int] = []
    /// The values in columns that refer to other tables, by their positions; noted in the scratch database only.
    package var referring: [Int: ReferringValues] = [:]

    package init() {}

    package func reset() {
        rows = 0
        replaced = 0
        hasDuplicates = false
        nulls = []
        referring = [:]
    }

    /// Notes the values by which the rows of a batch refer to other tables, through foreign keys of one column.
    func noteReferringValues(of batch: RowBatch, in table: StagingTable) {
        for column in table.referringColumns {
            var values = referring.removeValue(forKey: column) ?? ReferringValues()
            batch.forEachValue(ofColumn: column) { if !RowBatch.isNull($0) { values.note($0) } }
            referring[column] = values
        }
    }
}
