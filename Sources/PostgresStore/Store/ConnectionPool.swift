import Foundation
import FeedModel

/// The connections of one store: at most a number of them. Each is used by one thread at a time, and is opened when none
/// is idle. Who comes when all are in use waits, and gets one in the order of coming.
///
/// Each use of a connection has a limit for the server's answers, and is ended by a ``Stop`` of all uses. A body that has a
/// connection must not ask the pool for another: all who have one could wait for each other.
final class ConnectionPool: Sendable {
    /// `@unchecked Sendable`: a connection is handed from thread to thread under the mutex.
    private struct Box: @unchecked Sendable { let connection: PostgresConnection }

    private struct State {
        var idle: [Box] = []
        /// The places that are taken, also by those who are connecting.
        var taken = 0
        var waiting: [DispatchSemaphore] = []
        var isClosed = false
    }

    private let connectionString: String
    /// The most connections.
    let limit: Int
    private let stop: Stop
    private let state = Mutex(State())

    /// - Parameter stop: ends the work on all connections.
    init(_ connectionString: String, limit: Int, stop: Stop) {
        self.connectionString = connectionString
        self.stop = stop
        self.limit = max(1, limit)
    }

    /// The number of threads that wait for a connection.
    var waiting: Int { state.withLock(\.waiting.count) }

    /// Runs a body with a connection of its own. A connection that was lost, or left in a transaction, is closed.
    ///
    /// - Parameters:
    ///   - limit: the limit of each wait for the server.
    ///   - stop: ends the wait for a connection.
    /// - Throws: `PostgresError`, `CancellationError`, and the errors of the body.
    func withConnection<Value>(
        _ limit: AnswerLimit, _ stop: Stop? = nil, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        try takePlace(stop)
        defer { leavePlace() }
        let connection = try idleConnection() ?? PostgresConnection(connectionString)
        defer { put(back: connection) }
        connection.answerLimit = limit
        do {
            return try self.stop.whileInProgress(Stop.Work(connection)) { try body(connection) }
        } catch let error as PostgresError where error.isOfTheSession {
            // Sessions keep the settings that they began with. Once those are mended, new ones are of use.
            connection.close()
            forgetIdle()
            throw error
        }
    }

    /// Does the same as ``withConnection(_:_:_:)``, and once more on a new connection if the first one was lost, other
    /// than by a limit of time. The body may run to its end in each attempt.
    func withConnection<Value>(
        _ limit: AnswerLimit, attempts: Int, _ body: (PostgresConnection) throws -> Value
    ) throws -> Value {
        do {
            return try withConnection(limit, nil, body)
        } catch let error as PostgresError where error.isConnectionLost && !error.isLate && attempts > 1 {
            forgetIdle()
            return try withConnection(limit, nil, body)
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

    // MARK: - Places

    private func takePlace(_ stop: Stop?) throws {
        let granted: DispatchSemaphore? = state.withLock { state in
            guard state.taken == limit else {
                state.taken += 1
                return nil
            }
            let granted = DispatchSemaphore(value: 0)
            state.waiting.append(granted)
            return granted
        }
        guard let granted else { return }
        guard let stop else { return granted.wait() }
        do { try stop.wait(for: granted) } catch {
            let isWaiting = state.withLock { state in
                let index = state.waiting.firstIndex { $0 === granted }
                if let index { state.waiting.remove(at: index) }
                return index != nil
            }
            if !isWaiting { leavePlace() }
            throw error
        }
    }

    /// Passes the slot to the longest waiter.
    private func leavePlace() {
        let next: DispatchSemaphore? = state.withLock { state in
            guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
            state.taken -= 1
            return nil
        }
        next?.signal()
    }

    // MARK: - Idle connections

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
        state.withLock { if !$0.isClosed { $0.idle.append(box) } }
    }
}

extension PostgresError {
    /// True if a setting of the role, the database or the server was in the way, so that another session may fare
    /// better.
    fileprivate var isOfTheSession: Bool { state == .readOnlyTransaction || state == .queryCanceled }
}
