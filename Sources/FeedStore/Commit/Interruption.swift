import GRDB
import GRDBSQLite
import Synchronization

/// Stops, from another thread, the SQLite work of one run: its scratch database's work or its commit. The work of other
/// runs goes on, although they share the main store's connection.
package final class Interruption: Sendable {
    /// `@unchecked Sendable`: the connection is used only under the lock, and only while the commit holds it.
    private struct State: @unchecked Sendable {
        var connection: OpaquePointer?
        var isRequested = false
        var onRequest: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())

    package init() {}

    package func request() {
        let onRequest = state.withLock { state in
            state.isRequested = true
            if let connection = state.connection { sqlite3_interrupt(connection) }
            return state.onRequest
        }
        onRequest()
    }

    /// Sets the action to call when the interruption is requested. Calls it at once if it already has been.
    package func onRequest(_ action: @escaping @Sendable () -> Void) {
        let isRequested = state.withLock { state in
            state.onRequest = action
            return state.isRequested
        }
        if isRequested { action() }
    }

    func whileInterruptible<Value>(_ db: Database, _ body: () throws -> Value) throws -> Value {
        try state.withLock { state in
            guard !state.isRequested else { throw CancellationError() }
            state.connection = db.sqliteConnection
        }
        defer { state.withLock { $0.connection = nil } }
        do {
            return try body()
        } catch {
            if state.withLock({ $0.isRequested }) { throw CancellationError() }
            throw error
        }
    }
}
