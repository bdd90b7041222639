/// Rows of one staging table, with the number of the first; the others are numbered consecutively.
package struct StagedBatch: Sendable {
    package var rows: RowBatch
    package var firstRow: Int64
}
