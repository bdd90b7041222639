/// Rows of one staging table, and the number of the first; the others' follow.
struct StagedBatch: Sendable {
    var rows: RowBatch
    var firstRow: Int64
}
