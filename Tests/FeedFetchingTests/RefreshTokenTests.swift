import FeedConfiguration
import FeedModel
import FeedStaging
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import FeedFetching
@testable import TributaryEngine

/// Logins with a refresh token that changes with each use.
@Suite(.onEachStore) struct RefreshTokenTests {
    private static let key = String(repeating: "0f", count: 32)
    private static let otherKey = String(repeating: "e1", count: 32)

    private static func auth(_ options: String = "") -> String {
        """
        [sources.NAME.requests.auth.oauth2]
        token_url = "URL/token"
        client_id = "me"
        client_secret = "${SECRET}"
        grant = "refresh_token"
        refresh_token = "${LOGIN}"
        \(options)
        """
    }

    private static func source(_ name: String = "s", _ options: String = "", path: String = "/a") -> String {
        EngineFixture.request(path, auth(options).replacing("NAME", with: name), of: name)
    }

    private static func environment(_ login: String = "first-refresh") -> [String: String] {
        ["SECRET": "client-secret", "LOGIN": login]
    }

    private static func store(_ key: String = key) -> String { "encryption_key = \"\(key)\"\n" }

    /// Each sync has a service of its own, as after a restart of the program.
    private func sync(
        _ fixture: EngineFixture, _ sources: String = source(), _ names: [String] = [], key: String = key,
        login: String = "first-refresh", clock: (any RunClock)? = nil
    ) async throws -> [RunReport] {
        try await fixture.sync(
            Self.store(key) + sources, names, clock: clock, environment: Self.environment(login))
    }

    private func expectNoSecret(_ fixture: EngineFixture, _ texts: [String?] = []) throws {
        let rows = try fixture.rows("SELECT * FROM tributary_login")
        let runs = try fixture.rows("SELECT * FROM tributary_run")
        for text in rows + runs + texts.compactMap(\.self) {
            #expect(
                !text.contains("-refresh") && !text.contains("-number-") && !text.contains("client-secret"), "\(text)")
        }
    }

    @Test func eachRunSendsTheTokenOfTheRunBefore() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rotation = RotatingTokens(feed: EngineFixture.items(["1"]))
            rotation.install(on: fixture.server)
            for _ in 0..<3 {
                let report = try #require(try await sync(fixture).first)
                #expect(report.error == nil)
            }
            #expect(rotation.sent == ["first-refresh", "refresh-number-2", "refresh-number-3"])
            #expect(try fixture.rows("SELECT id FROM item") == ["1"])
            let rows = try fixture.rows("SELECT holder, held_until FROM tributary_login WHERE token IS NOT NULL")
            #expect(rows == ["NULL|NULL"])
            try expectNoSecret(fixture)
        }
    }

    @Test func aTokenThatStaysIsNotStored() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rotation = RotatingTokens(feed: EngineFixture.items(["1"]))
            rotation.install(on: fixture.server, rotates: false)
            for _ in 0..<2 { #expect(try await sync(fixture).first?.error == nil) }
            #expect(rotation.sent == ["first-refresh", "first-refresh"])
            #expect(try fixture.rows("SELECT token FROM tributary_login") == ["NULL"])
        }
    }

    @Test func aDiscardedRunKeepsTheNextToken() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rotation = RotatingTokens(feed: EngineFixture.items(["1"]))
            rotation.install(on: fixture.server)
            fixture.server.route("/bad") { _ in StubServer.response(500, "") }
            let discarded = try #require(try await sync(fixture, Self.source(path: "/bad")).first)
            #expect(discarded.outcome == .discarded && discarded.error?.contains("500") == true, "\(discarded)")
            #expect(try await sync(fixture).first?.error == nil)
            #expect(rotation.sent == ["first-refresh", "refresh-number-2"])
        }
    }

    /// The token server has replaced the token, and its answer comes after the run was cancelled.
    @Test func aCancelledRunKeepsTheNextToken() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rotation = RotatingTokens(feed: EngineFixture.items(["1"]))
            let (arrivals, arrival) = AsyncStream<Void>.makeStream()
            let gate = DispatchSemaphore(value: 0)
            rotation.install(on: fixture.server) {
                arrival.yield()
                gate.wait()
            }
            let run = Task { try await sync(fixture, clock: fixture.clock) }
            for await _ in arrivals { break }
            run.cancel()
            gate.signal()
            _ = try? await run.value
            rotation.install(on: fixture.server)
            #expect(try await sync(fixture).first?.error == nil)
            #expect(rotation.sent == ["first-refresh", "refresh-number-2"])
        }
    }

    @Test func sourcesWithOneLoginFollowOneAnother() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rotation = RotatingTokens(feed: EngineFixture.items(["1"]))
            rotation.install(on: fixture.server)
            // The same login, with an access token for each scope.
            let sources = Self.source("s", "scope = \"one\"") + Self.source("t", "scope = \"two\"")
            let reports = try await sync(fixture, sources)
            #expect(reports.map(\.error) == [nil, nil])
            #expect(rotation.sent == ["first-refresh", "refresh-number-2"])
            // Two programs at the same time.
            let services = try ["s", "t"].map { name in
                (
                    name,
                    try fixture.service(
                        Self.store() + sources, clock: SystemClock(), environment: Self.environment())
                )
            }
            let errors = try await withThrowingTaskGroup(of: [String?].self) { group in
                for (name, service) in services {
                    group.addTask { try await service.sync([name], mode: .force).map(\.error) }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            for (_, service) in services { try service.store.close() }
            #expect(errors == [nil, nil])
            #expect(rotation.sent == (1...4).map { $0 == 1 ? "first-refresh" : "refresh-number-\($0)" })
            #expect(try fixture.rows("SELECT count(*) FROM tributary_login") == ["1"])
        }
    }

    @Test func aPlanKeepsTheNextToken() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rotation = RotatingTokens(feed: EngineFixture.items(["1"]))
            rotation.install(on: fixture.server)
            let sources = Self.store() + Self.source()
            for _ in 0..<2 {
                let service = try fixture.service(sources, clock: SystemClock(), environment: Self.environment())
                let source = try #require(service.configuration[source: "s"])
                let plan = try await service.plan(source) { _ in }
                #expect(plan.counts.inserted == 1)
                try service.store.close()
            }
            #expect(try await sync(fixture).first?.counts.inserted == 1)
            #expect(rotation.sent == ["first-refresh", "refresh-number-2", "refresh-number-3"])
        }
    }

    @Test func aRefusedTokenIsReplacedByAnotherDeclaredOne() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rotation = RotatingTokens(feed: EngineFixture.items(["1"]))
            rotation.install(on: fixture.server)
            #expect(try await sync(fixture).first?.error == nil)
            rotation.logIn("second-refresh")
            let refused = try #require(try await sync(fixture).first)
            let error = try #require(refused.error)
            for part in [
                "request '1'", "/token refused the refresh token: invalid_grant ([secret] is not in force)",
                "log in to the service again, and put the new refresh token into ${LOGIN}; it replaces the kept one",
            ] {
                #expect(error.contains(part), "\(error)")
            }
            for _ in 0..<2 { #expect(try await sync(fixture, login: "second-refresh").first?.error == nil) }
            #expect(
                rotation.sent == ["first-refresh", "refresh-number-2", "second-refresh", "refresh-number-3"])
            try expectNoSecret(fixture, [error])
        }
    }

    @Test func anotherEncryptionKeyIsAnErrorThatBurnsNoToken() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rotation = RotatingTokens(feed: EngineFixture.items(["1"]))
            rotation.install(on: fixture.server)
            #expect(try await sync(fixture).first?.error == nil)
            let error = try #require(try await sync(fixture, key: Self.otherKey).first?.error)
            #expect(
                error.contains(
                    "that the store keeps cannot be decrypted with the encryption_key of [store]; declare the key with "
                        + "which it was encrypted, or log in to the service again, and put the new refresh token into "
                        + "${LOGIN}"), "\(error)")
            #expect(rotation.sent == ["first-refresh"])
            // The former key again.
            #expect(try await sync(fixture).first?.error == nil)
            // The other way that the error names.
            rotation.logIn("second-refresh")
            let report = try await sync(fixture, key: Self.otherKey, login: "second-refresh").first
            #expect(report?.error == nil)
            try expectNoSecret(fixture, [error])
        }
    }

    @Test func mistakes() async throws {
        func auth(_ options: String) -> String {
            EngineFixture.request(
                "/a",
                """
                auth = { oauth2 = { token_url = "URL/token", client_id = "me", client_secret = "x", \(options) } }
                """)
        }
        try await EngineFixture.expectMistake(
            auth("grant = \"refresh_token\", refresh_token = \"first\""),
            "oauth2.grant: needs 'encryption_key' in [store]: 32 bytes in hex")
        let key = "encryption_key = \"\(Self.key)\"\n"
        try await EngineFixture.expectMistake(
            key + auth("grant = \"refresh_token\""),
            "oauth2.grant: requires 'refresh_token', the one that the service issued at the login")
        try await EngineFixture.expectMistake(
            key + auth("grant = \"refresh_token\", refresh_token = \"\""), "refresh_token: is empty")
        try await EngineFixture.expectMistake(
            key + auth("refresh_token = \"first\""), "refresh_token: requires grant = \"refresh_token\"")
    }

    @Test func aClientWithoutASecretSendsNone() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let rotation = RotatingTokens(feed: EngineFixture.items(["1"]))
            rotation.install(on: fixture.server)
            let sources = Self.source("s", "credentials_in = \"body\"").replacing("${SECRET}", with: "")
            #expect(try await sync(fixture, sources).first?.error == nil)
            let request = try #require(fixture.server.requests("/token").first)
            #expect(request.body == "client_id=me&grant_type=refresh_token&refresh_token=first-refresh")
            #expect(request.headers["authorization"] == nil)
        }
    }
}
