/// A staging table, the batch being filled for it, and the row numbers given out.
final class Staging {
    @exclusivity(unchecked) var table: StagingTable
    let counts = StagedCounts()
    @exclusivity(unchecked) private(set) var batch: RowBatch { didSet { batchReference = .passUnretained(batch) } }
    /// The batch without a reference count: touched for every row.
    @exclusivity(unchecked) private(set) var batchReference: Unmanaged<RowBatch>
    /// A small feed keeps its order. A large one is brought near the order of its key, batch by batch: the index
    /// and the merge then touch each page once instead of once a row.
    var isSorted = false
    /// Batches that have ended and wait for the scratch database, or for the merge.
    private(set) var ended: [StagedBatch] = []
    private var nextRow: Int64 = 1
    private(set) var request = -1
    /// Whether another staging table may hold rows with the same keys: each row then has a number of its own, that tells
    /// which of them came later.
    @exclusivity(unchecked) var isContested = false
    /// The requests that staged here and were not forgotten. What none uses says nothing of its table.
    private var users: Set<Int> = []

    init(_ table: StagingTable) {
        self.table = table
        batch = RowBatch(keyColumn: table.sortColumn)
        batchReference = .passUnretained(batch)
    }

    /// What the batch that is being filled holds, in bytes.
    var count: Int { batch.size }
    var isUsed: Bool { !users.isEmpty }
    /// Whether no row waits.
    var isEmpty: Bool { batch.rows.isEmpty && ended.isEmpty }

    /// Rows of a later request overrule those of an earlier one, in whichever order they come.
    func begin(request index: Int) {
        request = index
        users.insert(index)
        nextRow = Self.firstRow(ofRequest: index) + 1
    }

    private static func firstRow(ofRequest index: Int) -> Int64 { Int64(index) << 40 }

    /// The first number of a contested row: behind those of all rows that came before their tables were contested.
    static func firstContestedRow(ofRequest index: Int) -> Int64 { firstRow(ofRequest: index) + (1 << 39) }

    static func rows(ofRequest index: Int) -> ClosedRange<Int64> {
        firstRow(ofRequest: index)...firstRow(ofRequest: index + 1) - 1
    }

    /// Ends the batch that is being filled, and goes on with the memory of a spare one, if there is any.
    ///
    /// - Returns: the memory that now waits, in bytes.
    func endBatch(_ spare: @autoclosure () -> RowBatch?) -> Int {
        guard !batch.rows.isEmpty else { return 0 }
        let filled = batch
        batch = spare() ?? RowBatch(keyColumn: nil)
        batch.reuse(keyColumn: table.sortColumn)
        ended.append(StagedBatch(rows: filled, firstRow: nextRow))
        nextRow += Int64(filled.rows.count)
        return filled.capacity
    }

    /// The first batch that waits, or else the one that is being filled; there is one.
    func takeBatch(_ spare: @autoclosure () -> RowBatch?) -> StagedBatch {
        if ended.isEmpty { _ = endBatch(spare()) }
        return ended.removeFirst()
    }

    func takeEnded() -> [StagedBatch] {
        defer { ended = [] }
        return ended
    }

    /// Forgets the rows of a request that wait, and lets whoever stages next begin anew.
    func forget(request index: Int) {
        let rows = Self.rows(ofRequest: index)
        ended.removeAll { rows.contains($0.firstRow) }
        request = -1
        users.remove(index)
    }

    /// Gives the memory of the batch back. No row can be staged any more.
    func releaseBatch() { batch = RowBatch(keyColumn: nil) }
}
