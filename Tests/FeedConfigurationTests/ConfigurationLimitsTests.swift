import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import FeedFetching
@testable import TributaryEngine

/// Numbers of a configuration: each has a range, within which nothing overflows.
@Suite struct ConfigurationLimitsTests {
    private static let request = """
        [[sources.s.requests]]
        url = "https://example.org/${row:id}"
        parser = "ItemsParser"

        """

    private func read(_ text: String) async throws -> TributaryConfiguration {
        try await withTemporaryFolder { folder in
            try TributaryConfiguration(
                file: folder.write(text, to: "sources.toml"), parsers: EngineFixture.registry, environment: [:])
        }
    }

    private func problems(_ text: String) async throws -> [String] {
        do {
            _ = try await read(text)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map { "\($0.keyPath): \($0.message)" }
        }
    }

    @Test(arguments: [9_223_372_036_854_775_807, 9_223_372_036_854_775_806, 4_611_686_018_427_387_905])
    func integersNearTheLargest(number: Int) async throws {
        let found = try await problems(
            """
            [daemon]
            concurrency = \(number)
            per_host = \(number)
            [[sources.s.requests]]
            url = "https://example.org/"
            parser = "ItemsParser"
            retries = \(number)
            accept_status = [\(number)]
            page = { counter = "offset", start = \(number), step = \(number), max_pages = \(number) }
            [[sources.s.requests]]
            url = "https://example.org/${row:id}"
            parser = "ItemsParser"
            for_each = "SELECT 1 AS id"
            concurrency = \(number)
            max_requests = \(number)
            """)
        let request = "sources.s.requests[1]"
        let expected = [
            ("daemon.concurrency", 10_000), ("daemon.per_host", 10_000), ("\(request).retries", 1_000),
            ("\(request).page.start", 1_000_000_000_000_000), ("\(request).page.step", 1_000_000_000),
            ("\(request).page.max_pages", 1_000_000_000), ("sources.s.requests[2].concurrency", 10_000),
            ("sources.s.requests[2].max_requests", 1_000_000_000),
        ].map { "\($0): expected at most \($1), found \(number)" }
        #expect(
            Set(found)
                == Set(expected + ["\(request).accept_status: \(number) is not a status of success (200 to 299)"]))
    }

    @Test(arguments: [-1, Int.min])
    func negativeIntegers(number: Int) async throws {
        let found = try await problems(
            "[daemon]\nconcurrency = \(number)\n" + Self.request
                + "retries = \(number)\npage = { counter = \"p\", start = \(number) }\n")
        #expect(found.count { $0.hasSuffix("found \(number)") } == 3, "\(found)")
    }

    @Test func theLargestPageHasANumber() async throws {
        let configuration = try await read(
            Self.request.replacing("${row:id}", with: "")
                + "page = { counter = \"p\", start = 1000000000000000, step = 1000000000, max_pages = 1000000000 }\n")
        let request = try #require(configuration[source: "s"]?.requests.first)
        let paging = try #require(request.paging)
        #expect(paging.firstPage(of: request).parameters["p"]?.value == "1000000000000000")
        var pages = PageSequence(paging, page: 999_999_999)
        let last = try pages.next(after: request, .at(""), records: 1, found: nil)
        #expect(last?.parameters["p"]?.value == "1000999999000000000")
        #expect(throws: FetchError.self) {
            try pages.next(after: request, .at(""), records: 1, found: nil)
        }
    }

    @Test(arguments: ["36526d", "9223372036854775807d", "9223372036854775807ms", "99999999999999999999s", "300y"])
    func durationsAreAtMostACentury(text: String) async throws {
        let keys = ["cache", "timeout", "connect_timeout"]
        let found = try await problems(
            "[store]\nhistory = \"\(text)\"\n[sources.s]\n" + keys.map { "\($0) = \"\(text)\"\n" }.joined()
                + Self.request.replacing("${row:id}", with: ""))
        #expect(found.count == 4 && found.allSatisfy { $0.contains("\"36525d\" is the longest") }, "\(found)")
    }

    @Test func theLargestOfEverythingWorks() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["a"]))
            fixture.server.document("/b", "<items/>")
            let configured = """
                [daemon]
                concurrency = 10000
                per_host = 10000
                [sources.s]
                cache = "36525d"
                timeout = "36525d"
                connect_timeout = "36525d"
                max_body = "1048576GiB"
                retries = 1000

                """
            let first = EngineFixture.request("/a")
            let pages = EngineFixture.request(
                "/b", "page = { counter = \"p\", start = 1000000000000000, step = 1000000000, max_pages = 1000000000 }")
            let rows = EngineFixture.request(
                "/b?${row:id}",
                "for_each = \"SELECT id FROM staged.item\"\nconcurrency = 10000\nmax_requests = 1000000000")
            let reports = try await fixture.sync(configured + first + pages + rows + "allow_empty = true\n")
            #expect(reports.map(\.outcome) == [.committed], "\(reports.map(\.error))")
            #expect(try fixture.rows("SELECT next_due FROM tributary_source").first?.hasPrefix("21") == true)
        }
    }

    @Test(arguments: ["1048577GiB", "9223372036854775807B", "9223372036854775807GiB", "8589934592GiB"])
    func sizesAreAtMostAPebibyte(text: String) async throws {
        let found = try await problems("[defaults]\nmax_body = \"\(text)\"\n")
        #expect(found.first?.contains("\"1048576GiB\" is the largest") == true, "\(found)")
        #expect(try await problems("[defaults]\nmax_body = \"1048576GiB\"\n").isEmpty)
    }

    @Test func aThousandMistakesAreToldAndTheOthersCounted() async throws {
        let found = try await problems((0..<5_000).map { "k\($0) = 1\n" }.joined())
        #expect(found.count == 1_001 && found.last == ": and 4000 more mistakes")
    }

    @Test func textsThatNothingCanHold() async throws {
        let found = try await problems(
            """
            [sources."a\\u0000b"]
            [[sources.s.requests]]
            url = "\\u0000capture:x\\u0000\\u0000"
            parser = "ItemsParser"
            body = { xml = { a = ["x", "\\U00000000"] } }
            """)
        #expect(
            found.map { $0.prefix { $0 != ":" } } == [
                "sources.\"a\0b\"", "sources.s.requests[1].url", "sources.s.requests[1].body.xml.a[2]",
            ])
    }

    @Test func placesOfMessagesAreFoundWhateverTheKeysAre() async throws {
        let path = TOMLKeyPath().appending("a.b").appending("\"c\\\": [").appending(3).appending("").appending("é\n")
        let text = "\n[\"a.b\"]\n\n\"\\\"c\\\\\\\": [\" = [1,\n2,\n3,\n{ \"\" = 1 }]\n"
        try await withTemporaryFolder { (folder) async throws in
            let file = try folder.write(text, to: "sources.toml")
            let configuration = TributaryConfiguration(file: file, store: .file(""), workFolder: "")
            let mistakes = [
                Mistake(KeyPlace(file: file, path), "why; because", help: "do this"),
                Mistake(configuration.place("a.b"), "x"), Mistake(configuration.place("z"), "x"),
                Mistake(KeyPlace(), "other"),
            ]
            let located = configuration.located(mistakes)
            #expect(
                located.map(\.description) == [
                    "\(file):7: \(path): why; because; do this", "\(file):2: \"a.b\": x", "\(file): z: x", "other",
                ])
            #expect(located.map(\.finding) == ["why; because", "x", "x", "other"])
            #expect(located.map(\.help) == ["do this", nil, nil, nil])
        }
    }

    @Test(arguments: ["a[@b='", "a[@b=\\\"c", "a[@b!='c", "a[@b='c'", "a[@b=", "a[", "string(", "@", "p:"])
    func pathsThatEndTooSoon(path: String) async throws {
        let found = try await problems(
            Self.request.replacing("${row:id}", with: "").replacing("parser = \"ItemsParser\"", with: "")
                + "tables = [{ table = \"t\", element = \"a\", columns = { c = \"\(path)\" } }]\n")
        #expect(found.contains { $0.contains("is not a path") }, "\(found)")
    }

    @Test func longTextsAreReadOnce() async throws {
        // Each would take minutes if a piece were looked through anew for each reference, name or mistake.
        let long = String(repeating: "$${x", count: 20_000)
        let text = """
            [[sources.s.requests]]
            url = "https://example.org/"
            parser = "ItemsParser"
            body = "\(long)"
            headers = { X = "\(String(repeating: "$${", count: 20_000))" }

            """
        let request = try #require(try await read(text)[source: "s"]?.requests.first)
        #expect(request.body?.text.value.utf8.count == 60_000)
        let key = String(repeating: "k", count: 40_000)
        let found = try await problems("[\(key)]\n\(key) = 1\n" + text.replacing("parser", with: key))
        #expect(found.count == 3)
        let references = String(repeating: "${capture:a}", count: 5_000)
        let unknown = try await problems(text.replacing(long, with: references))
        #expect(unknown.contains { $0.contains("no earlier request of the source captures 'a'") })
    }
}
