import PostgresClient
import Synchronization

/// The connections of one store. Each is used by one thread at a time, and is opened when none is idle.
final class ConnectionPool: Sendable {
    /// `@unchecked Sendable`: a connection is handed from thread to thread under the mutex.
    private struct Box: @unchecked Sendable { let connection: PostgresConnection }

    private struct State {
        var idle: [Box] = []
        var isClosed = false
    }

    /// The connections that stay open for the next question. Any number may be in use.
    private static let maximumIdle = 16

    private let connectionString: String
    private let state = Mutex(State())

    init(_ connectionString: String) { self.connectionString = connectionString }

    /// Runs a body with a connection of its own. A connection that was lost, or left in a transaction, is closed.
    ///
    /// - Throws: `PostgresError`, and the errors of the body.
    func withConnection<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        let connection = try idleConnection() ?? PostgresConnection(connectionString)
        defer { put(back: connection) }
        do {
            return try body(connection)
        } catch let error as PostgresError where error.isOfTheSession {
            // Sessions keep the settings that they began with. Once those are mended, new ones are of use.
            connection.close()
            forgetIdle()
            throw error
        }
    }

    /// Does the same as ``withConnection(_:)``, and once more on a new connection if the first one was lost. The body
    /// may run to its end in each attempt.
    func withConnection<Value>(attempts: Int, _ body: (PostgresConnection) throws -> Value) throws -> Value {
        do {
            return try withConnection(body)
        } catch let error as PostgresError where error.isConnectionLost && attempts > 1 {
            forgetIdle()
            return try withConnection(body)
        }
    }

    /// Closes the idle connections, which a server that is gone has lost as well.
    func forgetIdle() { state.withLock { $0.idle = [] } }

    /// Closes every connection that is not in use, and the others once they are not in use any more.
    func close() {
        state.withLock { state in
            state.idle = []
            state.isClosed = true
        }
    }

    /// Returns a connection that the server has not ended meanwhile.
    private func idleConnection() -> PostgresConnection? {
        while let connection = state.withLock({ $0.idle.popLast() })?.connection {
            // Looks at the socket without waiting. It throws where the server has said farewell.
            if (try? connection.notifications(timeout: .zero)) != nil { return connection }
        }
        return nil
    }

    private func put(back connection: PostgresConnection) {
        guard connection.isOpen, connection.transactionStatus == .idle else { return }
        let box = Box(connection: connection)
        state.withLock { if !$0.isClosed, $0.idle.count < Self.maximumIdle { $0.idle.append(box) } }
    }
}

extension PostgresError {
    /// True where a setting of the role, the database or the server was in the way, so that another session may fare
    /// better.
    fileprivate var isOfTheSession: Bool { state == .readOnlyTransaction || state == .queryCanceled }
}
