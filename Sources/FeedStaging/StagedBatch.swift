/// Rows of one staging table, with the number of the first; the others are numbered consecutively.
package struct StagedBatch: Sendable {
    var rows: RowBatch
    var firstRow: Int64
}
