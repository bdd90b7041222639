import Foundation
import PostgresServer
@testable import PostgresStore
import TestSupport
import Testing

/// Servers that say nothing: what works may take any time, what is gone does not.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(5))) struct SilentServerTests {
    private func withRelay(
        _ faults: [Relay.Fault] = [], _ body: (Relay, PostgresServer, PostgresConnection) async throws -> Void
    ) async throws {
        var options = PostgresServer.Options()
        options.listensOnTCP = true
        try await withPostgresServer(options) { (server) async throws in
            try await Relay.with(to: server.port, faults) { relay in
                let string = "hostaddr=127.0.0.1 port=\(relay.port) dbname=postgres user=postgres "
                let connection = try PostgresConnection(string + "sslmode=disable gssencmode=disable")
                defer { connection.close() }
                connection.answerLimit = .working(askingAfter: .seconds(1))
                try await body(relay, server, connection)
            }
        }
    }

    /// Waits for an advisory lock that another session holds until a condition is true.
    private func waitForLock(
        of server: PostgresServer, by connection: PostgresConnection, until condition: @escaping @Sendable () -> Bool
    ) throws {
        let isHeld = DispatchSemaphore(value: 0)
        let other = OtherThread {
            defer { isHeld.signal() }
            let holder = try server.connect()
            try holder.execute("SELECT pg_advisory_lock(1)")
            isHeld.signal()
            while !condition() { usleep(1_000) }
            try holder.execute("SELECT pg_advisory_unlock(1)")
        }
        isHeld.wait()
        try connection.execute("SELECT pg_advisory_lock(1)")
        try other.join()
    }

    /// It is asked about twice.
    @Test func aStatementMayTakeAnyTime() async throws {
        try await withRelay { relay, server, connection in
            try waitForLock(of: server, by: connection) { relay.connections >= 3 }
            #expect(connection.isOpen)
        }
    }

    /// The server has executed the statement, and nobody passes its answer on.
    @Test func aLostAnswerEndsTheWait() async throws {
        try await withRelay([.stall(after: 20_000)]) { _, _, connection in
            let error = postgresError { try connection.execute("SELECT repeat('x', 1000000)") }
            #expect(error?.isConnectionLost == true && error?.isLate == true)
            let message = error?.description ?? ""
            #expect(message.contains("the server did not answer within 1 s, and its answer was lost"), "\(message)")
            #expect(!connection.isOpen)
        }
    }

    @Test func aServerThatAnswersNobodyEndsTheWait() async throws {
        try await withPostgresServer { server in
            let connection = try PostgresConnection(server.connectionString() + " connect_timeout=2")
            connection.answerLimit = .working(askingAfter: .seconds(1))
            try server.pause()
            let error = postgresError { try connection.execute("SELECT 1") }
            try server.resume()
            #expect(error?.isConnectionLost == true && error?.isLate == true)
            let message = error?.description ?? ""
            #expect(message.contains("did not answer within 1 s, and another connection fails: "), "\(message)")
            #expect(message.contains("timeout expired"), "\(message)")
            #expect(!connection.isOpen)
        }
    }

    /// A server that has no connection left for the question is there.
    @Test func aRefusalIsAnAnswer() async throws {
        var options = PostgresServer.Options()
        options.settings = ["max_connections = 4", "superuser_reserved_connections = 0", "max_wal_senders = 0"]
        try await withPostgresServer(options) { server in
            var connections: [PostgresConnection] = []
            // Sessions that end hold their places for a moment.
            while connections.count < 4 { if let next = try? server.connect() { connections.append(next) } }
            let inquiry = SessionInquiry(about: connections[0].backendPID, by: server.connectionString())
            while inquiry.finding == .isOpen { usleep(1_000) }
            #expect(inquiry.finding == .isExecuting)
            connections[3].close()
            let found = try lastFinding(about: connections[0].backendPID, server)
            guard case .isSilent = found else {
                Issue.record("the session is idle, and found is \(found)")
                return
            }
        }
    }

    /// Asks until there is a place for the question.
    private func lastFinding(about session: Int32, _ server: PostgresServer) throws -> SessionInquiry.Finding {
        while true {
            let inquiry = SessionInquiry(about: session, by: server.connectionString())
            while inquiry.finding == .isOpen { usleep(1_000) }
            if inquiry.finding != .isExecuting { return inquiry.finding }
        }
    }

    @Test func aQuestionEndsWithItsLimit() async throws {
        try await withPostgresDatabase { database in
            let (connection, holder) = (try database.connect(), try database.connect())
            connection.answerLimit = .question(.seconds(1))
            try holder.execute("SELECT pg_advisory_lock(1)")
            let error = postgresError { try connection.execute("SELECT pg_advisory_lock(1)") }
            #expect(error?.isLate == true)
            let message = error?.description ?? ""
            #expect(message.contains("within 1 s; pg_stat_activity shows"), "\(message)")
        }
    }
}
