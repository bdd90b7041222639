import FeedStores
import GRDB
import GRDBSQLite

extension Database {
    /// Runs a body whose statements an interruption ends, also one that is requested between two of them, or while one
    /// waits for a lock: `sqlite3_interrupt` ends only the statement that is running (c3ref/interrupt.html).
    ///
    /// - Throws: `CancellationError` where it was requested; the errors of the body.
    func whileInterruptible<Value>(by interruption: Interruption, _ body: () throws -> Value) throws -> Value {
        // It is called only as long as the body runs, on the connection that the body holds.
        nonisolated(unsafe) let connection = sqliteConnection
        sqlite3_progress_handler(
            connection, Self.stepsBetweenChecks,
            { Unmanaged<Interruption>.fromOpaque($0!).takeUnretainedValue().isRequested ? 1 : 0 },
            Unmanaged.passUnretained(interruption).toOpaque())
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try interruption.whileInterruptible({ sqlite3_interrupt(connection) }, body)
    }

    /// The steps of a statement after which the interruption is looked at: some microseconds.
    private static let stepsBetweenChecks: Int32 = 1_000
}
