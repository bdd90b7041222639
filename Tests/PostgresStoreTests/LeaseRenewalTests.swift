import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

@Suite(.enabled(if: PostgresServer.isAvailable)) struct LeaseRenewalTests {
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
            try await store.record(.of("b"))
            #expect(try database.rows(rest) == ["t", "t"])
            for lease in leases { lease.unlock() }
            try store.close()
        }
    }
}
