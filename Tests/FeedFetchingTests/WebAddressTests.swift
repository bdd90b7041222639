import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import TributaryEngine

/// Whoever names an address, it is looked at before it is asked.
@Suite struct WebAddressTests {
    static let unusable: [(address: String, why: String)] = [
        ("http://127.0.0.1:65536/", "port"), ("http://127.0.0.1:70000/", "port"), ("http://[::1]:99999/", "port"),
        ("http://127.0.0.1:99999999999999999999/", "port"), ("http://127.0.0.1:0/", "port"),
        ("https://host:65536?q", "port"), ("http:///path", "host"), ("http://:80/", "host"), ("http://?q", "host"),
        ("http://[]/", "host"), ("http://.../", "host"), ("http://a%00b/", "host"), ("http://a%20b/", "host"),
        ("http://\(String(repeating: "a", count: 254))/", "host"), ("http://user:pass@host/", "user"),
        ("http://user@host/", "user"), ("http://@host/", "user"), ("http://host/a\nb", "control"),
        ("http://host/\u{0}", "control"), ("http://host/\u{9B}", "control"), ("http:host", "host"),
        ("gopher://host/", "not an http:"), ("unix:///run/docker.sock", "not an http:"),
        ("http+unix://%2Frun%2Fdocker.sock/", "not an http:"), ("file:///etc/passwd", "not an http:"),
        ("http://host/" + String(repeating: "a", count: WebAddress.lengthLimit), "longer"),
    ]

    @Test(arguments: unusable)
    func anAddressThatCannotBeAsked(address: String, why: String) throws {
        #expect {
            _ = try WebAddress(address)
        } throws: { error in
            "\(error)".contains(why)
        }
    }

    @Test(arguments: [
        "http://host", "HTTPS://HOST:65535/", "http://host:/", "http://127.0.0.1:1/", "http://[::1]:80/x",
        "http://[fe80::1%25eth0]/", "http://a_b-c.example/ä b?q=ü", "http://müller.example/", "http://host:080/@?@#@",
    ])
    func anAddressThatCanBeAsked(address: String) throws {
        _ = try WebAddress(address)
    }

    @Test(arguments: [
        ("http://127.0.0.1:65536/", "port"), ("http://127.0.0.1:99999999999999999999/", "port"),
        ("http:///x", "host"), ("//:80/x", "host"), ("http://u:p@127.0.0.1/", "user"), ("gopher://x/", "not an http:"),
        ("", "without a Location"), ("file:///etc/passwd", "not an http:"),
    ])
    func aLocationThatCannotBeAskedDiscardsTheRun(location: String, why: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in
                [StubServer.head(302, ["Location": location, "Content-Length": "0"])]
            }
            let report = try #require(try await fixture.sync(EngineFixture.request("/a")).first)
            #expect(report.outcome == .discarded && report.error?.contains(why) == true, "\(report.error ?? "")")
        }
    }

    @Test(arguments: ["http://127.0.0.1:65536/", "http://127.0.0.1:70000/x", "http://[::1]:65536/"])
    func noCapturedOrNextAddressTraps(address: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/index", "<index><at>\(address)</at><item id='1'/></index>")
            let captured = try await fixture.sync(
                """
                [[sources.s.requests]]
                url = "URL/index"
                capture = { at = "/index/at" }
                [[sources.s.requests]]
                url = "${capture:at}"
                parser = "ItemsParser"
                """)
            #expect(captured.first?.error?.contains("cannot be used: its port") == true, "\(captured)")
            let paged = try await fixture.sync(
                EngineFixture.request("/index", "page = { next = \"/index/at\" }", of: "p"), ["p"])
            #expect(paged.first?.error?.contains("cannot be used: its port") == true, "\(paged)")
            let rows = try await fixture.sync(
                """
                [[sources.s.requests]]
                url = "URL/index"
                tables = [{ table = "place", element = "index", key = ["at"], columns = { at = "at" } }]
                [[sources.s.requests]]
                url = "${row:at}"
                for_each = "SELECT at FROM staged.place"
                parser = "ItemsParser"
                """)
            #expect(rows.first?.error?.contains("cannot be used: its port") == true, "\(rows)")
        }
    }

    @Test func anAddressInTheStoreThatCannotBeAskedIsForgotten() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
            #expect(try await fixture.sync(EngineFixture.request("/a")).first?.outcome == .committed)
            try await DatabaseQueue(path: fixture.storePath).write { db in
                try db.execute(
                    sql: "UPDATE tributary_request SET moved_to = 'http://127.0.0.1:65536/', moved_times = 9")
            }
            #expect(try await fixture.sync(EngineFixture.request("/a")).first?.outcome == .unchanged)
        }
    }

    @Test(arguments: unusable.filter { !$0.address.hasPrefix("file:") && !$0.address.contains("\u{0}") })
    func checkReportsThem(address: String, why: String) async throws {
        let letters = address.unicodeScalars.map { scalar in
            (0x20...0x7E).contains(scalar.value) ? String(scalar) : String(format: "\\u%04X", scalar.value)
        }
        let quoted = "\"\(letters.joined())\""
        try await EngineFixture.expectMistake(
            "[[sources.s.requests]]\nurl = \(quoted)\nparser = \"ItemsParser\"\n", "cannot be used: it")
        try await EngineFixture.expectMistake(
            EngineFixture.request(
                "/a", "auth = { oauth2 = { token_url = \(quoted), client_id = \"a\", client_secret = \"b\" } }"),
            "cannot be used: it")
    }

    @Test(arguments: [
        "http://127.0.0.1:65536", "socks5://127.0.0.1:70000", "http://", "http://user:pw@:80",
        "http://h:99999999999999999999",
    ])
    func aProxyThatCannotBeAsked(proxy: String) async throws {
        try await EngineFixture.expectMistake(
            EngineFixture.request("/a", "proxy = \"\(proxy)\""), "is not a proxy: it")
    }

    @Test(arguments: ["http://127.0.0.1:65536/", "http://u:p@127.0.0.1/x", "http://[::1]:70000/"])
    func inferSaysWhy(address: String) async throws {
        await #expect {
            _ = try await Inference(of: address).proposal(.init())
        } throws: { error in
            "\(error)".contains("cannot be used: it")
        }
    }

    @Test func aSecretInAnAddressIsNotShown() async throws {
        try await EngineFixture.with { (fixture) async throws in
            #expect {
                try fixture.configuration(
                    "[[sources.s.requests]]\nurl = \"http://${HOST}/\"\nparser = \"ItemsParser\"\n",
                    environment: ["HOST": "hunter22:70000"])
            } throws: { error in
                "\(error)".contains("its port") && !"\(error)".contains("hunter22")
            }
        }
    }
}
