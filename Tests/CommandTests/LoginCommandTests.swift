import Foundation
import TestStores
import TestSupport
import Testing

/// The built program at a service whose refresh tokens change with each use.
@Suite(.timeLimit(.minutes(5))) struct LoginCommandTests {
    private struct Fixture {
        let folder: TemporaryFolder
        let store: TestStore
        let tokens: RotatingTokens
        let server: StubServer

        var program: BuiltProgram {
            BuiltProgram("tributary", config: folder.file("sources.toml"), environment: ["LOGIN": "first-refresh"])
        }

        /// - Parameter store: the lines of `[store]` before the key.
        func declare(_ store: String) throws {
            try folder.write(
                """
                \(store)encryption_key = "\(String(repeating: "0f", count: 32))"
                [sources.s]
                [[sources.s.requests]]
                url = "\(server.url)/a"
                [sources.s.requests.auth.oauth2]
                token_url = "\(server.url)/token"
                client_id = "me"
                client_secret = "client-secret"
                grant = "refresh_token"
                refresh_token = "${LOGIN}"
                [[sources.s.requests.tables]]
                table = "item"
                element = "item"
                key = ["id"]
                columns = { id = "@id" }
                """, to: "sources.toml")
        }

        func run(_ command: String..., expecting status: Int32 = 0) async throws {
            let output = try await program.start(command).output()
            #expect(output.status == status, "\(command): \(output)")
            let text = output.standardOutput + output.standardError
            #expect(!text.contains("-refresh") && !text.contains("-number-"), "\(text)")
        }
    }

    private func with(_ body: (Fixture) async throws -> Void) async throws {
        try await withStubServer { server in
            try await withTemporaryFolder { folder in
                try await withTestStore(in: folder) { store in
                    let tokens = RotatingTokens(feed: "<r><item id='1'/></r>")
                    tokens.install(on: server)
                    let fixture = Fixture(folder: folder, store: store, tokens: tokens, server: server)
                    try fixture.declare(store.declaration)
                    try await body(fixture)
                }
            }
        }
    }

    /// The first plan, where the store has no table yet, and a later one.
    @Test(.onEachStore) func aPlanKeepsTheNextToken() async throws {
        try await with { (fixture) async throws in
            try await fixture.run("check")
            try await fixture.run("plan", "s", expecting: 2)
            try await fixture.run("plan", "s", expecting: 2)
            #expect(try fixture.store.rows("SELECT count(*) FROM tributary_run") == ["0"])
            try await fixture.run("sync")
            try await fixture.run("plan", "s")
            try await fixture.run("sync", "--force")
            let numbers = (2...5).map { "refresh-number-\($0)" }
            #expect(fixture.tokens.sent == ["first-refresh"] + numbers)
            #expect(try fixture.store.rows("SELECT count(*) FROM tributary_login") == ["1"])
        }
    }

    @Test func aMovedStoreHasTheToken() async throws {
        try await with { (fixture) async throws in
            try await fixture.run("sync")
            try await fixture.run("move-store", "--to", fixture.folder.file("other.sqlite"), "--yes")
            try fixture.declare("[store]\npath = \"other.sqlite\"\n")
            try await fixture.run("sync", "--force")
            #expect(fixture.tokens.sent == ["first-refresh", "refresh-number-2"])
        }
    }
}
