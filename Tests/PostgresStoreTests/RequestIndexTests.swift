import FeedModel
import Foundation
import Ledger
import PostgresClient
import PostgresServer
import Testing

@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore

@Suite(.enabled(if: PostgresServer.isAvailable)) struct RequestIndexTests {
    private let schema = "CREATE TABLE item (id text PRIMARY KEY, shop text, day text)"

    private func others(_ store: PostgresStore, scope: [String: String] = [:]) throws -> [String] {
        try store.connections.withConnection { connection in
            try store.requestIndex.renew(connection.ledger())
            return try store.claims(connection).requests(of: "item", within: scope).map(\.source)
                .filter { $0 != "a" }
        }
    }

    /// Each store sees at its next commit what the other has written.
    @Test func whoWroteWhatIsKnownAcrossProcesses() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema)
            let other = try database.openStore()
            func commit(_ source: String, to store: PostgresStore, scope: [String: String] = [:]) async throws {
                _ = try await store.commit(.of(source, [request(tables: ["Item"], scope: scope)])) { 0 }
            }
            try await commit("a", to: store)
            #expect(try others(store) == [])
            try await commit("b", to: other, scope: ["shop": "n"])
            try await commit("c", to: store)
            #expect(try others(store) == ["b", "c"])
            #expect(try others(store, scope: ["shop": "s"]) == ["c"])
            #expect(try others(store, scope: ["shop": "n", "day": "1"]) == ["b", "c"])
            try await commit("b", to: store, scope: ["shop": "s"])
            #expect(try others(store, scope: ["shop": "s"]) == ["b", "c"])
            #expect(try others(other, scope: ["day": "1"]) == ["b", "c"])
            _ = try await store.commit(.of("c", forgotten: ["1"])) { 0 }
            #expect(try others(other) == ["b"])
            #expect(try others(store) == ["b"])
            try await commit("c", to: other)
            #expect(try others(store) == ["b", "c"])
            try store.close()
            try other.close()
        }
    }

    /// The standby lacks the last commit, and gives its version to another.
    @Test func whatAFailoverHasLostIsForgotten() async throws {
        try await withReplicatedServers { (primary, standby) async throws in
            let url =
                "host=\(primary.folder),\(standby.folder) dbname=postgres user=postgres"
                + " target_session_attrs=read-write"
            let store = try PostgresStore(url: url, workFolder: "/tmp", schema: schema)
            let other = try PostgresStore(url: url, workFolder: "/tmp")
            func commit(_ source: String) async throws {
                _ = try await other.commit(.of(source, [request(tables: ["item"])])) { 0 }
            }
            try await commit("b")
            let replica = try standby.connect()
            while try replica.execute("SELECT to_regclass('tributary_request')")[0].isNull(0) {
                try await Task.sleep(for: .milliseconds(2))
            }
            while try replica.execute("SELECT 1 FROM tributary_request").isEmpty {
                try await Task.sleep(for: .milliseconds(2))
            }
            try standby.stop()
            try await commit("c")
            #expect(try others(store) == ["b", "c"])
            try primary.stop(.immediate)
            try standby.start()
            try standby.promote()
            try await commit("d")
            #expect(try others(store) == ["b", "d"])
            try store.close()
            try other.close()
        }
    }

    @Test func commitsThatChangeNoClaimLeaveTheVersionAlone() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema)
            let version = "SELECT version FROM tributary_claims"
            _ = try await store.commit(.of("s", [request(etag: "a"), request("2")])) { 0 }
            #expect(try database.rows(version) == ["1"])
            _ = try await store.commit(.of("s", [request(etag: "b"), request("2")], forgotten: ["3"])) { 0 }
            #expect(try database.rows(version) == ["1"])
            #expect(
                try database.rows("SELECT key, etag, claim FROM tributary_request ORDER BY key") == [
                    "1|b|1", "2|NULL|1",
                ])
            _ = try await store.commit(.of("s", [request(etag: "b", scope: ["shop": "n"]), request("2")])) { 0 }
            #expect(
                try database.rows("SELECT key, etag, claim FROM tributary_request ORDER BY key") == [
                    "1|b|2", "2|NULL|1",
                ])
            try store.close()
        }
    }

    /// The requests that were forgotten are not remembered for ever.
    @Test func whoeverIsFarBehindReadsEverythingAnew() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema)
            let other = try database.openStore()
            for source in ["b", "c"] { _ = try await store.commit(.of(source, [request()])) { 0 } }
            #expect(try others(other) == ["b", "c"])
            _ = try await store.commit(.of("c", forgotten: ["1"])) { 0 }
            try database.connect().execute("UPDATE tributary_claims SET version = version + 20000")
            _ = try await store.commit(.of("d", [request(), request("2")])) { 0 }
            _ = try await store.commit(.of("d", [request()], forgotten: ["2"])) { 0 }
            #expect(try database.rows("SELECT source FROM tributary_forgotten") == ["d"])
            #expect(try others(other) == ["b", "d"])
            // A backup was restored.
            try database.connect().executeScript(
                "DELETE FROM tributary_request; UPDATE tributary_claims SET version = 1")
            #expect(try others(other) == [])
            try store.close()
            try other.close()
        }
    }

    /// A commit that cannot read the claims leaves what other commits know.
    @Test func whatIsKnownOutlivesAFailure() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema)
            for source in ["b", "c"] { _ = try await store.commit(.of(source, [request(tables: ["item"])])) { 0 } }
            #expect(try others(store) == ["b", "c"])
            // It is so far behind that it reads everything.
            try database.connect().execute("UPDATE tributary_claims SET version = version + 20000")
            #expect(throws: PostgresError.self) {
                try store.connections.withConnection { connection in
                    try connection.inTransaction {
                        try connection.execute("ALTER TABLE tributary_request RENAME TO hidden")
                        try store.requestIndex.renew(connection.ledger())
                    }
                }
            }
            let known = store.requestIndex.requests(of: "item", within: [:], comparedBy: TableComparison())
            #expect(known.map(\.source) == ["b", "c"])
            #expect(try others(store) == ["b", "c"])
            try store.close()
        }
    }

    /// Whoever has asked for the version before another commit, and looks at the index after it, reads nothing again.
    @Test func commitsSideBySideReadOnlyWhatHasChanged() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema)
            _ = try await store.commit(.of("b", [request(tables: ["item"])])) { 0 }
            #expect(try others(store) == ["b"])
            try await withThrowingTaskGroup { group in
                for number in 0..<60 {
                    group.addTask {
                        let commit = Commit.of("s\(number)", [request(tables: ["item"])])
                        _ = try await store.commit(commit, merging: .empty, interruption: Interruption()) { 0 }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try others(store).count == 61)
            #expect(store.requestIndex.loads == 1)
            try store.close()
        }
    }
}
