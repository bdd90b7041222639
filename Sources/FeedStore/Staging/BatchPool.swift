import Synchronization

/// Batches that have been written, kept for their memory.
final class BatchPool: Sendable {
    private let batches = Mutex<[RowBatch]>([])

    func take() -> RowBatch? { batches.withLock { $0.popLast() } }

    /// Twice what a batch of rows of the usual size grows to.
    static let largestKept = 4 * WorkerContext.batchCapacity

    /// Keeps at most three, what one run can have under way, and none that one very large row has made so.
    func put(_ batch: RowBatch) {
        guard batch.capacity <= Self.largestKept else { return }
        batches.withLock { if $0.count < 3 { $0.append(batch) } }
    }

    func removeAll() { batches.withLock { $0 = [] } }
}
