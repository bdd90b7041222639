import FeedModel
import FeedStores
import Foundation
import TestStores
import Testing

/// `tributary_login`: one exchange of a login's refresh token at a time.
@Suite(.onEachStore) struct LoginTests {
    private static let date = Date(timeIntervalSince1970: 1_900_000_000)

    @Test func oneExchangeHoldsALogin() async throws {
        try await LedgerFixture.with { (_, store) async throws in
            func hold(_ login: String, _ holder: String, seconds: Int = 600) throws -> Bool {
                try store.write { try $0.logins.hold(login, by: holder, seconds: seconds) }
            }
            #expect(try hold("a", "one"))
            #expect(try !hold("a", "two"))
            #expect(try hold("b", "two"))
            // Only the holder ends its right.
            try store.write { try $0.logins.release("a", by: "two") }
            #expect(try !hold("a", "two"))
            try store.write { try $0.logins.release("a", by: "one") }
            #expect(try hold("a", "two"))
            // A right that has ended is anybody's.
            #expect(try hold("c", "one", seconds: -10))
            #expect(try hold("c", "two"))
        }
    }

    @Test func anExchangeReplacesTheTokenThatItSent() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            func replace(_ former: String?, _ token: String) throws -> String? {
                try store.write { ledger in
                    try ledger.logins.replace(former, by: token, of: "a", at: Self.date)
                    return try ledger.logins.token(of: "a")
                }
            }
            #expect(try store.read { try $0.logins.token(of: "a") } == nil)
            _ = try store.write { try $0.logins.hold("a", by: "one", seconds: 600) }
            #expect(try replace(nil, "first") == "first")
            #expect(try replace("first", "second") == "second")
            // An exchange that has lost its right does not undo a later one.
            #expect(try replace("first", "third") == "second")
            #expect(try replace(nil, "third") == "second")
            _ = try store.write { try $0.logins.hold("a", by: "two", seconds: 600) }
            #expect(try tables.rows("SELECT token FROM tributary_login") == ["second"])
        }
    }
}
