/// A staging table, with the batch that is being filled for it and the row numbers assigned so far.
final class Staging {
    @exclusivity(unchecked) var table: StagingTable
    let counts = StagedCounts()
    @exclusivity(unchecked) private(set) var batch: RowBatch { didSet { batchReference = .passUnretained(batch) } }
    /// The batch without a reference count, as it is accessed for every row.
    @exclusivity(unchecked) private(set) var batchReference: Unmanaged<RowBatch>
    /// False for a small feed, which keeps its order. The batches of a large feed are sorted by its key: the index and
    /// the merge then touch each page once instead of once per row.
    var isSorted = false
    /// Batches that have ended and wait for the scratch database, or for the merge.
    private(set) var ended: [StagedBatch] = []
    private var nextRow: Int64 = 1
    /// The numbers of the next rows of earlier requests. A request may continue after later ones.
    private var nextRows: [Int: Int64] = [:]
    private(set) var request = -1
    /// True if another staging table may hold rows with the same keys. Each row then has a number, which identifies
    /// the later of two rows.
    @exclusivity(unchecked) var isContested = false
    /// The requests that staged here and were not forgotten. Without one, the staging table says nothing of its table.
    private var users: Set<Int> = []

    init(_ table: StagingTable) {
        self.table = table
        batch = RowBatch(key: table.sortKey)
        batchReference = .passUnretained(batch)
    }

    /// The size of the batch that is being filled, in bytes.
    var count: Int { batch.size }
    var isUsed: Bool { !users.isEmpty }
    /// True if no row is waiting.
    var isEmpty: Bool { batch.rows.isEmpty && ended.isEmpty }

    /// Starts a request. Its rows overrule those of earlier requests of the stack, in whichever order the rows arrive.
    func begin(request index: Int) {
        nextRows[request] = nextRow
        request = index
        users.insert(index)
        nextRow = nextRows[index] ?? Self.firstRow(ofRequest: index) + 1
    }

    /// The bits below a request's position in the number of a row.
    static let requestBits: Int64 = 40

    private static func firstRow(ofRequest index: Int) -> Int64 { Int64(index) << requestBits }

    /// Returns the first number of a contested row: behind those of all rows that came before their tables were
    /// contested.
    static func firstContestedRow(ofRequest index: Int) -> Int64 { firstRow(ofRequest: index) + (1 << 39) }

    static func rows(ofRequest index: Int) -> ClosedRange<Int64> {
        firstRow(ofRequest: index)...firstRow(ofRequest: index + 1) - 1
    }

    /// Ends the batch that is being filled, and starts another with the memory of a spare one, if there is any.
    ///
    /// - Returns: the memory that now waits, in bytes.
    func endBatch(_ spare: @autoclosure () -> RowBatch?) -> Int {
        guard !batch.rows.isEmpty else { return 0 }
        let filled = batch
        batch = spare() ?? RowBatch(key: nil)
        batch.reuse(key: table.sortKey)
        ended.append(StagedBatch(rows: filled, firstRow: nextRow))
        nextRow += Int64(filled.rows.count)
        return filled.capacity
    }

    /// Returns the first waiting batch, or else the one that is being filled; there must be one.
    func takeBatch(_ spare: @autoclosure () -> RowBatch?) -> StagedBatch {
        if ended.isEmpty { _ = endBatch(spare()) }
        return ended.removeFirst()
    }

    func takeEnded() -> [StagedBatch] {
        defer { ended = [] }
        return ended
    }

    /// True if rows of a request are staged here.
    func isUsed(by index: Int) -> Bool { users.contains(index) }

    /// True if rows of other requests are staged here.
    func isUsed(byOtherThan index: Int) -> Bool { users.contains { $0 != index } }

    /// Removes a request's waiting rows. The next rows of the request begin with its first number again.
    func forget(request index: Int) {
        let rows = Self.rows(ofRequest: index)
        ended.removeAll { rows.contains($0.firstRow) }
        nextRows[index] = nil
        if request == index { request = -1 }
        users.remove(index)
    }

    /// Releases the memory of the batch. No row can be staged any more.
    func releaseBatch() { batch = RowBatch(key: nil) }
}

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
    /// True if each row's key was larger than that of the row before it, so that no two rows have the same one. Noted in the
    /// scratch database only. The key then has no index there until the merge looks rows up by it.
    package private(set) var hasAscendingKeys = false
    private var lastKey: RowBatch.LastKey?
    /// NULLs in each column, by its position.
    package var nulls: [Int] = []

    package init() {}

    /// Returns the same counts, to be changed by one merge. Another may merge the same rows.
    package func copy() -> StagedCounts {
        let copy = StagedCounts()
        copy.rows = rows
        copy.hasDuplicates = hasDuplicates
        copy.replaced = replaced
        copy.hasAscendingKeys = hasAscendingKeys
        copy.nulls = nulls
        return copy
    }

    package func reset() {
        rows = 0
        replaced = 0
        hasDuplicates = false
        hasAscendingKeys = false
        nulls = []
    }

    /// Notes whether the keys of a batch go on ascending. Must be called before its rows are counted.
    func noteKeys(of batch: RowBatch) {
        hasAscendingKeys = (rows == 0 || hasAscendingKeys) && batch.ascends(after: &lastKey)
    }
}
