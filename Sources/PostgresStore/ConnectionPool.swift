import PostgresClient
import Synchronization

/// The connections of one store. Each is used by one thread at a time, and is opened when none is idle.
///
/// `@unchecked Sendable`: a connection is handed from thread to thread under the mutex.
final class ConnectionPool: @unchecked Sendable {
    private let connectionString: String
    private let idle = Mutex<[Box]>([])

    private struct Box: @unchecked Sendable { let connection: PostgresConnection }

    init(_ connectionString: String) { self.connectionString = connectionString }

    /// Runs a body with a connection of its own. A connection that was lost, or left in a transaction, is closed.
    ///
    /// - Throws: `PostgresError`, and the errors of the body.
    func withConnection<Value>(_ body: (PostgresConnection) throws -> Value) throws -> Value {
        let connection = try idle.withLock { $0.popLast() }?.connection ?? PostgresConnection(connectionString)
        defer {
            if connection.isOpen, connection.transactionStatus == .idle {
                let box = Box(connection: connection)
                idle.withLock { $0.append(box) }
            }
        }
        return try body(connection)
    }

    func close() { idle.withLock { $0.removeAll() } }
}
