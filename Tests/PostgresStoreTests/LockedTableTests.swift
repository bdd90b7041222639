import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

/// Tables that other sessions keep locked, and servers that say nothing.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(5))) struct LockedTableTests {
    private let schema = "CREATE TABLE a (id integer PRIMARY KEY, v text); CREATE TABLE b (id integer PRIMARY KEY)"

    private func lock(_ table: String, in database: TestDatabase) throws -> PostgresConnection {
        let holder = try database.connect()
        try holder.executeScript("BEGIN; LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
        return holder
    }

    private func stack(_ table: String, _ store: PostgresStore) throws -> StagedStack {
        let context = WorkerContext(store: store, source: "s")
        defer { context.remove() }
        context.beginRequest(0, rule: MergeRule())
        try context.insert(into: table, ["id": 1])
        return try context.finish()
    }

    /// A run begins without a look at the rows, and asks its server whether they have changed.
    @Test func aRunBeginsAndKeepsItsValidators() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema)
            let commit = Commit.of("s", [request("1", etag: "e", tables: ["a"])], outcome: .committed)
            _ = try store.merge(stack("a", store), with: commit)
            let holder = try lock("a", in: database)
            #expect(try store.states(of: "s").requests["1"]?.validators.etag == "e")
            try holder.execute("ROLLBACK")
            try database.connect().execute("DELETE FROM a")
            #expect(try store.states(of: "s").requests["1"]?.validators.etag == nil)
            try store.close()
        }
    }

    /// Small commits wait at the server for a moment only.
    @Test func commitsIntoOtherTablesGoOn() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema, connections: 4)
            let stacks = try (a: stack("a", store), b: stack("b", store))
            let holder = try lock("a", in: database)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        _ = try await store.commit(
                            .of("s\(number)", outcome: .committed), merging: stacks.a, stop: Stop()
                        ) { 0 }
                    }
                }
                while store.tableTurns.waiting < 7 { try await Task.sleep(for: .milliseconds(2)) }
                _ = try await store.commit(
                    .of("t", outcome: .committed), merging: stacks.b, stop: Stop()
                ) { 0 }
                #expect(try store.read { try $0.sources.state(of: "t") }.outcome == .committed)
                #expect(try database.rows("SELECT count(*) FROM tributary_run") == ["1"])
                try holder.execute("ROLLBACK")
                try await group.waitForAll()
            }
            #expect(try store.read { try $0.runs.last(limit: 19) }.count == 9)
            try store.close()
        }
    }

    @Test func aQueryOverItsRowsSaysThatItIsLocked() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema, connections: 1)
            #expect(try store.value(of: "count(*)", in: "a", scope: [:]) == "0")
            let holder = try lock("a", in: database)
            async let waits = message { _ = try await onThread { try store.value(of: "max(id)", in: "a", scope: [:]) } }
            try await database.waitForWaiting()
            // Its connection is free in between.
            #expect(try store.read { try $0.sources.all() }.isEmpty)
            let error = await waits
            #expect(error?.contains("${last:max(id)} of table 'a' cannot be read") == true, "\(error ?? "")")
            #expect(error?.contains("another session has kept its table locked") == true, "\(error ?? "")")
            async let stops = message { _ = try await onThread { try store.value(of: "max(id)", in: "a", scope: [:]) } }
            try await database.waitForWaiting()
            store.stopWaiting()
            #expect(await stops != nil)
            try holder.execute("ROLLBACK")
            try store.close()
        }
    }

    /// The server is asked to end the statement, and its session does not wait on.
    @Test func aQuestionEndsWhereTheServerIsSilent() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(connections: 1)
            let holder = try lock("tributary_source", in: database)
            let error = message {
                try store.ask(within: .seconds(1)) { _ = try $0.execute("SELECT count(*) FROM tributary_source") }
            }
            #expect(error?.contains("the server did not answer within 1 s") == true, "\(error ?? "")")
            let waiting = """
                SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                """
            try await onThread { while try !database.rows(waiting).isEmpty { usleep(1_000) } }
            try holder.execute("ROLLBACK")
            #expect(try store.read { try $0.sources.all() }.isEmpty)
            try store.close()
        }
    }

    /// A server that is away is no mistake of the schema.
    @Test func aServerThatIsAwayIsNoMistakeOfTheSchema() async throws {
        try await withPostgresServer { (server) async throws in
            let store = try PostgresStore(url: server.connectionString(), workFolder: "/tmp", schema: schema)
            #expect(try store.value(of: "max(id)", in: "a", scope: [:]) == nil)
            let mistake = #expect(throws: StoreError.self) { try store.value(of: "maxi(id)", in: "a", scope: [:]) }
            #expect(mistake?.code == .schema)
            try server.stop(.immediate)
            let away = #expect(throws: StoreError.self) { try store.value(of: "max(id)", in: "a", scope: [:]) }
            #expect(
                away?.code == .database && away?.message.contains("cannot be read") == true, "\(away.debugDescription)")
            try server.start()
            try store.close()
        }
    }
}
