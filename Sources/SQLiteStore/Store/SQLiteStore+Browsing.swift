import CSQLite
import FeedModel
import FeedStores
import GRDB
package import Merging

/// Rows for those who look at them, by connections of their own that SQLite opened to read.
extension SQLiteStore: BrowsingStore {
    /// The time after which a question ends. SQLite asks for it while a statement runs.
    private final class Deadline {
        let end: ContinuousClock.Instant

        init(_ limit: Duration) { end = .now + limit }

        /// The steps of a statement's program between two looks at the clock, some 10,000 rows' worth of microseconds.
        static let steps: Int32 = 20_000

        /// Ends the statements of a connection that take longer (c3ref/progress_handler.html).
        func limit(_ db: Database) {
            sqlite3_progress_handler(
                db.sqliteConnection, Self.steps,
                { context in
                    guard let context else { return 0 }
                    return Unmanaged<Deadline>.fromOpaque(context).takeUnretainedValue().end < .now ? 1 : 0
                }, Unmanaged.passUnretained(self).toOpaque())
        }
    }

    package func browse<Value>(within limit: Duration?, _ body: (TableReader) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.label = "browse"
        configuration.readonly = true
        configuration.busyMode = .timeout(2)
        configuration.prepareDatabase { try $0.addRowDigest() }
        do {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            let deadline = limit.map(Deadline.init)
            return try withExtendedLifetime(deadline) {
                try queue.read { db in
                    deadline?.limit(db)
                    defer { sqlite3_progress_handler(db.sqliteConnection, 0, nil, nil) }
                    return try body(TableReader(SQLiteHistories(db: db), db.ledger))
                }
            }
        } catch let error as DatabaseError {
            if let limit, error.resultCode == .SQLITE_INTERRUPT { throw RowQuery.Problem.late(after: limit) }
            throw StoreError(.database, "the store \(path) cannot be read: \(error.message ?? error.description)")
        }
    }
}
