import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

@Suite(.enabled(if: PostgresServer.isAvailable)) struct LostConnectionTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000.123)

    /// A lost connection is noticed before it is used, or while it is.
    @Test func lostConnectionsAreReplaced() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            for number in 1...3 {
                try await store.record(.of("s"))
                try database.terminateOthers()
                try await store.writeInGroup {
                    try $0.sources.recordAttempt(of: "s", number: number, wait: 1, declared: "d", now: now)
                }
                try database.terminateOthers()
                #expect(try store.read { try $0.sources.state(of: "s") }.attempts == number)
                try database.terminateOthers()
            }
            #expect(try store.read { try $0.runs.last(limit: 9) }.count == 3)
            try store.close()
        }
    }
}
