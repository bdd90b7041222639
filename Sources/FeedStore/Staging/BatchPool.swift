import Synchronization

/// Batches that have been written, kept for their memory.
final class BatchPool: Sendable {
    private let batches = Mutex<[RowBatch]>([])

    func take() -> RowBatch? { batches.withLock { $0.popLast() } }

    /// Keeps at most three: what one run can have under way.
    func put(_ batch: RowBatch) {
        batches.withLock { if $0.count < 3 { $0.append(batch) } }
    }

    func removeAll() { batches.withLock { $0 = [] } }
}
