import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct NotificationTests {
    @Test func sendingAndReceiving() async throws {
        try await withPostgresDatabase { database in
            let (listener, sender) = (try database.connect(), try database.connect())
            try listener.listen(to: "Some \"channel\"")
            try sender.inTransaction {
                try sender.notify("Some \"channel\"", "{\"run\": 1, \"source\": \"é'\\\"}")
                try sender.notify("Some \"channel\"", "2")
                try sender.notify("other", "3")
                #expect(try listener.notifications(timeout: .zero).isEmpty)
            }
            var notifications: [PostgresNotification] = []
            while notifications.count < 2 { notifications += try listener.notifications() }
            #expect(notifications.map(\.payload) == ["{\"run\": 1, \"source\": \"é'\\\"}", "2"])
            #expect(notifications.map(\.channel) == ["Some \"channel\"", "Some \"channel\""])
        }
    }

    /// Those that came along with a statement's answer.
    @Test func betweenStatements() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.listen(to: "here")
            try connection.notify("here", "")
            try connection.execute("SELECT 1")
            #expect(try connection.notifications().map(\.payload) == [""])
            expectError(.statement) { try connection.notify("here", String(repeating: "x", count: 8000)) }
            expectError(.value) { try connection.notify("here", "a\u{0}b") }
        }
    }

    /// Without a limit of time.
    @Test func fromAnotherThread() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.listen(to: "here")
            let other = OtherThread { try database.connect().notify("here", "now") }
            #expect(try connection.notifications().map(\.payload) == ["now"])
            try other.join()
        }
    }

    @Test func abandoning() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let interrupt = connection.interrupt
            let other = OtherThread { interrupt.abandon() }
            expectError(.connectionLost) { _ = try connection.notifications() }
            try other.join()
            expectError(.connectionLost) { try connection.execute("SELECT 1") }
        }
    }

    @Test func connectionLost() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let session = connection.backendPID
            try connection.listen(to: "here")
            let other = OtherThread { try database.terminate(session) }
            expectError(.connectionLost) { _ = try connection.notifications() }
            try other.join()
        }
    }
}
