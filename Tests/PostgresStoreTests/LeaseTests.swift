import FeedModel
import Foundation
import Ledger
import PostgresClient
import PostgresServer
import Testing

@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore

@Suite(.enabled(if: PostgresServer.isAvailable)) struct LeaseTests {
    @Test func aSourceIsClaimedOnce() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let other = try database.openStore()
            let lease = try #require(try store.claim("one"))
            #expect(try store.claim("one") == nil)
            #expect(try other.claim("one") == nil)
            let second = try #require(try other.claim("two"))
            // A claim is no run.
            #expect(try store.sourceStates().isEmpty)
            lease.unlock()
            lease.unlock()
            let again = try #require(try other.claim("one"))
            #expect(try store.claim("one") == nil)
            again.unlock()
            second.unlock()
            #expect(
                try database.rows("SELECT source, lease, holder FROM tributary_source ORDER BY source") == [
                    "one|2|NULL", "two|1|NULL",
                ])
            try store.close()
            try other.close()
        }
    }

    @Test func ofManyWhoClaimASourceOneGetsIt() async throws {
        try await withPostgresDatabase { (database) async throws in
            let stores = try (0..<4).map { _ in try database.openStore() }
            let claims = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<16 {
                    group.addTask { try await onThread { try stores[number % 4].claim("s") != nil } }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(claims == 1)
            for store in stores { try store.close() }
        }
    }

    @Test func aRunWhoseLeaseIsLostCommitsNothing() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let other = try database.openStore()
            let lost = try #require(try store.claim("s"))
            try store.renewLeases()
            try database.connect().execute("UPDATE tributary_source SET held_until = now() - interval '1 second'")
            let taken = try #require(try other.claim("s"))
            try store.renewLeases()
            #expect(try store.claim("s") == nil)
            for stack in [nil, StagedStack.empty] {
                let error = await message {
                    _ = try await store.commit(.of("s"), merging: stack, interruption: Interruption()) { 0 }
                }
                #expect(error == "the source 's' is run by another daemon now")
                _ = try await other.commit(.of("s"), merging: stack, interruption: Interruption()) { 0 }
            }
            #expect(try store.runs(limit: 9).count == 2)
            // Giving up what is lost takes nothing from the other.
            lost.unlock()
            #expect(try store.claim("s") == nil)
            taken.unlock()
            let again = try #require(try store.claim("s"))
            again.unlock()
            try store.close()
            try other.close()
        }
    }

    @Test func leasesAreRenewedAndCommitsRenewTheirOwn() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let leases = try ["a", "b"].map { try #require(try store.claim($0)) }
            let rest = "SELECT held_until < '2099-01-01' FROM tributary_source ORDER BY source"
            try database.connect().execute("UPDATE tributary_source SET held_until = '2100-01-01'")
            // A commit under way holds its row, and is not waited for.
            let commit = try database.connect()
            try commit.executeScript("BEGIN; SELECT FROM tributary_source WHERE source = 'b' FOR UPDATE")
            try store.renewLeases()
            #expect(try database.rows(rest) == ["t", "f"])
            try commit.execute("ROLLBACK")
            _ = try await store.commit(.of("b")) { 0 }
            #expect(try database.rows(rest) == ["t", "t"])
            for lease in leases { lease.unlock() }
            try store.close()
        }
    }
}
