import GRDB
import FeedStores

/// Makes the writes of one store, one after another, on the connection that writes.
///
/// The callers' threads stay free meanwhile. With each commit on its caller's thread, the threads would spend more time on
/// waking one another than on the commits of small stacks.
final class SQLiteWriter: Sendable {
    private typealias GroupWrite = @Sendable (Database) throws -> Void

    private let pool: DatabasePool
    private let work: SQLiteWork?
    private let groupCommit = GroupCommit<GroupWrite>()

    /// - Parameter work: where writes are made; nil for the writing connection's own queue.
    init(_ pool: DatabasePool, _ work: SQLiteWork? = nil) {
        self.pool = pool
        self.work = work
    }

    /// Writes after all earlier callers.
    ///
    /// - Throws: the error of `body`.
    func write<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            add { db in continuation.resume(with: Result { try body(db) }) }
        }
    }

    /// Makes a small write in one transaction with others that wait.
    ///
    /// - Throws: the error of `body` or of the transaction.
    func writeInGroup(_ body: @escaping @Sendable (Database) throws -> Void) async throws {
        try await groupCommit.write(body, start: startGroup)
    }

    private func add(_ body: @escaping @Sendable (Database) -> Void) {
        guard let work else { return pool.asyncWriteWithoutTransaction(body) }
        work.add { [pool] in pool.writeWithoutTransaction(body) }
    }

    /// Writes the waiting group once the writing connection is free, and then the writes that have arrived meanwhile.
    private func startGroup() {
        add { [self] db in
            let hasMore = groupCommit.commit(
                { writes in
                    try db.inTransaction(.immediate) {
                        for write in writes { try write(db) }
                        return .commit
                    }
                }, concernsAll: { $0.concernsAllWrites })
            if hasMore { startGroup() }
        }
    }
}

/// Where and how long a store in SQLite works, for a simulator that has one thread and a clock of its own.
package struct SQLiteWork: Sendable {
    /// Does writes one after another.
    package let add: @Sendable (_ write: @escaping @Sendable () -> Void) -> Void
    /// Waits while another connection holds the lock, and returns false to give up; gets the number of earlier calls for the
    /// same lock.
    package let pause: @Sendable (_ tries: Int) -> Bool

    package init(
        add: @escaping @Sendable (_ write: @escaping @Sendable () -> Void) -> Void,
        pause: @escaping @Sendable (_ tries: Int) -> Bool
    ) {
        self.add = add
        self.pause = pause
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
