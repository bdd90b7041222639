import Locking

/// Batches that have been written and are kept for reuse of their memory.
final class BatchPool: Sendable {
    private let batches = Mutex<[RowBatch]>([])

    func take() -> RowBatch? { batches.withLock { $0.popLast() } }

    /// Twice the size to which a batch of rows of the usual size grows.
    static let largestKept = 4 * WorkerContext.batchCapacity

    /// Keeps at most three batches, which is the most that one run can have under way. Does not keep a batch that one
    /// very large row has enlarged.
    func put(_ batch: RowBatch) {
        guard batch.capacity <= Self.largestKept else { return }
        batches.withLock { if $0.count < 3 { $0.append(batch) } }
    }

    func removeAll() { batches.withLock { $0 = [] } }
}
