import GRDB
import Synchronization

/// Commits together the writes that arrive while the writing connection is busy. When hundreds of feeds answer that
/// nothing has changed, their records then take a few transactions rather than one each.
///
/// Only for small writes that are not interrupted. Whole stacks are committed one by one.
final class GroupCommit: Sendable {
    private struct Write {
        var body: @Sendable (Database) throws -> Void
        /// Called on the writing connection's queue.
        var end: @Sendable (Result<Void, any Error>) -> Void
    }

    private let pending = Mutex<[Write]>([])

    /// Returns when the write is in the store.
    ///
    /// - Parameters:
    ///   - body: runs inside a transaction, and once more in another one if the first fails.
    ///   - committed: called on the writing connection's queue, after the transaction.
    /// - Throws: the error of `body` or of the transaction.
    func write(
        to pool: DatabasePool, committed: @escaping @Sendable () -> Void = {},
        _ body: @escaping @Sendable (Database) throws -> Void
    ) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            let write = Write(body: body) { result in
                if case .success = result { committed() }
                continuation.resume(with: result)
            }
            let isFirst = pending.withLock { pending in
                pending.append(write)
                return pending.count == 1
            }
            if isFirst {
                pool.asyncWriteWithoutTransaction { db in
                    self.commit(
                        self.pending.withLock { pending in
                            defer { pending = [] }
                            return pending
                        }, db)
                }
            }
        }
    }

    private func commit(_ writes: [Write], _ db: Database) {
        let result = Result { try transaction(writes, db) }
        if case .failure(let error) = result, writes.count > 1, !error.concernsAllWrites {
            // One of the writes is at fault, and must not make the others fail.
            for write in writes { write.end(Result { try transaction([write], db) }) }
        } else {
            for write in writes { write.end(result) }
        }
    }

    private func transaction(_ writes: [Write], _ db: Database) throws {
        try db.inTransaction(.immediate) {
            for write in writes { try write.body(db) }
            return .commit
        }
    }
}

extension Error {
    /// True for errors that every write would meet: a lock held by another process, no space left, a disk that fails.
    fileprivate var concernsAllWrites: Bool {
        guard let error = self as? DatabaseError else { return false }
        return [.SQLITE_BUSY, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY].contains(
            error.resultCode.primaryResultCode)
    }
}
