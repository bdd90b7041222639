/// A staging table, the batch being filled for it, and the row ids given out.
final class Staging {
    @exclusivity(unchecked) var table: StagingTable
    let counts = StagedCounts()
    @exclusivity(unchecked) var batch: RowBatch { didSet { batchReference = .passUnretained(batch) } }
    /// The batch without a reference count: touched for every row.
    @exclusivity(unchecked) private(set) var batchReference: Unmanaged<RowBatch>
    /// A small feed keeps its order. A large one is brought near the order of its key, batch by batch: the index
    /// and the merge then touch each page once instead of once a row.
    var isSorted = false
    var nextRow: Int64 = 1
    var request = -1

    init(_ table: StagingTable) {
        self.table = table
        batch = RowBatch(keyColumn: table.sortColumn)
        batchReference = .passUnretained(batch)
    }

    /// Takes the filled batch away, and an emptied one, if there is any, in its place.
    func takeBatch(_ spare: RowBatch?) -> RowBatch {
        let filled = batch
        batch = spare ?? RowBatch(keyColumn: nil)
        batch.reuse(keyColumn: table.sortColumn)
        return filled
    }
}
