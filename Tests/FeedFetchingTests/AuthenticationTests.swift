import FeedConfiguration
import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedFetching
@testable import TributaryEngine

/// How requests prove who sends them.
@Suite struct AuthenticationTests {
    /// A token server that counts what it issues, and a feed that takes only the tokens in force.
    private final class Issuer: Sendable {
        let issued = Mutex(0)
        let refused = Mutex<Set<String>>([])

        func install(on server: StubServer, expiresIn: String = "3600") {
            server.route("/token") { [self] _ in
                let number = issued.withLock { issued in
                    issued += 1
                    return issued
                }
                return StubServer.response(
                    200,
                    "{\"access_token\": \"token-\(number)\", \"token_type\": \"Bearer\", \"expires_in\": \(expiresIn)}")
            }
            server.route("/a") { [self] request in
                let token = request.headers["authorization"]?.dropFirst("Bearer ".count)
                let isGood = token.map { token in refused.withLock { !$0.contains(String(token)) } } ?? false
                return isGood
                    ? StubServer.response(200, EngineFixture.items(["1"])) : StubServer.response(401, "")
            }
        }
    }

    private let oauth2 = """
        auth = { oauth2 = { token_url = "URL/token", client_id = "me & you", client_secret = "${SECRET}", scope = "read" } }
        """
    private let environment = ["SECRET": "s3cr:et", "TOKEN": "tok en"]

    @Test func basicAndBearer() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            for auth in ["{ basic = { user = \"Aladdin\", password = \"open sesame\" } }", "{ bearer = \"${TOKEN}\" }"]
            {
                try await fixture.sync(EngineFixture.request("/a", "auth = \(auth)"), environment: environment)
            }
            #expect(
                fixture.server.requests("/a").map { $0.headers["authorization"] }
                    == ["Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "Bearer tok en"])
        }
    }

    @Test func aTokenIsCachedUntilItExpires() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let issuer = Issuer()
            issuer.install(on: fixture.server)
            let configuration = try fixture.configuration(
                EngineFixture.request("/a", oauth2), environment: environment)
            let request = try #require(configuration[source: "s"]?.requests.first)
            let fetcher = HTTPFetcher(now: { fixture.clock.now() })
            func status() async throws -> Int {
                try await fetcher.fetch(request, ExchangeContext(), validators: Validators(), movedTo: nil).response
                    .status
            }
            // Runs that begin together ask for one token.
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        try await fetcher.fetch(request, ExchangeContext(), validators: Validators(), movedTo: nil)
                            .response.status
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(statuses == [200, 200, 200, 200] && issuer.issued.withLock(\.self) == 1)
            let asked = try #require(fixture.server.requests("/token").first)
            #expect(asked.method == "POST" && asked.body == "grant_type=client_credentials&scope=read")
            let credentials = Data("me%20%26%20you:s3cr%3Aet".utf8).base64EncodedString()
            #expect(asked.headers["authorization"] == "Basic \(credentials)")
            fixture.clock.advance(by: 3_500)
            #expect(try await status() == 200 && issuer.issued.withLock(\.self) == 1)
            fixture.clock.advance(by: 100)
            #expect(try await status() == 200 && issuer.issued.withLock(\.self) == 2)
            // Refused before its time: one more is asked for, once.
            issuer.refused.withLock { _ = $0.insert("token-2") }
            #expect(try await status() == 200 && issuer.issued.withLock(\.self) == 3)
            issuer.refused.withLock { $0 = ["token-3", "token-4"] }
            #expect(try await status() == 401 && issuer.issued.withLock(\.self) == 4)
            try await fetcher.shutdown()
        }
    }

    @Test func whatTheTokenServerRefusesIsSaid() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let answers: [(Int, String, String)] = [
                (401, "{\"error\": \"invalid_client\", \"error_description\": \"no s3cr:et here\"}", "invalid_client"),
                (500, "", "answered 500"), (200, "<html/>", "'access_token'"), (200, "{}", "'access_token'"),
                (200, "{\"access_token\": \"t\", \"token_type\": \"mac\"}", "not of the type Bearer"),
                (200, String(repeating: " ", count: 100_000), "more than 64 KiB"),
            ]
            for (status, body, expected) in answers {
                fixture.server.route("/token") { _ in StubServer.response(status, body) }
                let report = try await fixture.sync(
                    EngineFixture.request("/a", oauth2), environment: environment
                ).first
                #expect(report?.error?.contains(expected) == true, "\(report?.error ?? "none")")
                #expect(report?.error?.contains("s3cr") == false)
            }
            #expect(fixture.server.requests("/a").isEmpty)
        }
    }

    @Test func throughAProxy() async throws {
        try await EngineFixture.with { (fixture) async throws in
            // The proxy opens a tunnel, and answers in the place of the host that nobody could reach.
            fixture.server.route("feeds.invalid:80") { _ in [StubServer.head(200, [:])] }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let proxy = fixture.server.url.replacingOccurrences(of: "//", with: "//user:${PASSWORD}@")
            let request = EngineFixture.request("/a", "proxy = \"\(proxy)\"")
                .replacingOccurrences(of: "URL/a", with: "http://feeds.invalid/a")
            let report = try #require(
                try await fixture.sync(
                    request, environment: ["PASSWORD": "pass word"].mapValues { $0.percentEncoded }
                )
                .first)
            #expect(report.error == nil && report.counts.inserted == 1, "\(report)")
            let tunnel = try #require(fixture.server.requests("feeds.invalid:80").first)
            #expect(tunnel.method == "CONNECT")
            let credentials = Data("user:pass word".utf8).base64EncodedString()
            #expect(tunnel.headers["proxy-authorization"] == "Basic \(credentials)")
        }
    }

    @Test func credentialsDoNotGoElsewhere() async throws {
        try await withStubServer { (other) async throws in
            try await EngineFixture.with { (fixture) async throws in
                other.document("/b", EngineFixture.items(["1"]))
                fixture.server.route("/a") { _ in
                    [StubServer.head(302, ["Location": other.url + "/b", "Content-Length": "0"])]
                }
                try await fixture.sync(
                    EngineFixture.request("/a", "auth = { bearer = \"${TOKEN}\" }"), environment: environment)
                #expect(fixture.server.requests("/a").first?.headers["authorization"] != nil)
                let elsewhere = try #require(other.requests("/b").first)
                #expect(elsewhere.headers["authorization"] == nil)
            }
        }
    }

    @Test(arguments: [
        ("auth = {}", "give one of"), ("auth = { basic = { user = \"a\" } }", "'password' is missing"),
        ("auth = { bearer = \"a\", basic = { user = \"a\", password = \"b\" } }", "give only one"),
        ("auth = { bearer = \"a\" }\nheaders = { authorization = \"b\" }", "give one of them"),
        (
            "auth = { oauth2 = { token_url = \"x\", client_id = \"a\", client_secret = \"b\" } }",
            "is not an http: or https: URL"
        ),
        ("auth = { bearer = \"${capture:a}\" }", "are not allowed here"),
        ("auth = { bearer = \"a\\nb\" }", "no header can hold"),
        ("auth = { oauth = {} }", "did you mean 'oauth2'"), ("tls = { ca = \"none.pem\" }", "does not exist"),
        ("tls = { ca = \"sources.toml\" }", "holds no usable PEM"),
        ("tls = { key = \"sources.toml\" }", "tls.key: requires 'certificate'"),
        ("proxy = \"ftp://x\"", "is not a proxy"), ("proxy = \"socks5://a:b@x:1\"", "http: proxies only"),
    ])
    func wrongDeclarations(options: String, expected: String) async throws {
        try await EngineFixture.expectMistake(EngineFixture.request("/a", options), expected)
    }
}
