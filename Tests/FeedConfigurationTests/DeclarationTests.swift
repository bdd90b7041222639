import FeedModel
import Foundation
import TestEngine
import Testing
@testable import FeedConfiguration

/// Declarations as values: what a file says of a source, with every default. What they do to rows is shown by the suites of
/// the engine.
@Suite struct DeclarationTests {
    private static func read(_ text: String, environment: [String: String] = [:]) throws -> TributaryConfiguration {
        try ConfigurationReader(
            file: "/sources.toml", bytes: Array(text.replacingOccurrences(of: "URL", with: "http://h").utf8),
            parsers: EngineFixture.registry, environment: environment
        ).read()
    }

    private static func expectMistake(
        _ text: String, _ expected: String, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(sourceLocation: sourceLocation) {
            try read(text)
        } throws: { error in
            "\(error)".contains(expected)
        }
    }

    // MARK: - Defaults

    @Test func cacheAndHonorMaxAgeHaveDefaults() throws {
        let configuration = try Self.read(
            "[defaults]\ncache = \"1h\"\nhonor_max_age = false\n[sources.a]\n" + EngineFixture.request("/a", of: "a")
                + "[sources.b]\ncache = \"5m\"\nhonor_max_age = true\n" + EngineFixture.request("/b", of: "b"))
        #expect(configuration.sources.map(\.cache) == [.seconds(3600), .seconds(300)])
        #expect(configuration.sources.map(\.honorsMaxAge) == [false, true])
        #expect(configuration.sources.map(\.hasOwnCache) == [true, true])
    }

    @Test func freshWithinHasADefaultAndIsLongerThanCache() throws {
        let (a, b) = (EngineFixture.request("/a", of: "a"), EngineFixture.request("/b", of: "b"))
        let configuration = try Self.read(
            "[defaults]\nfresh_within = \"2h\"\n[sources.a]\ncache = \"1h\"\n" + a
                + "[sources.b]\nfresh_within = \"1d\"\nenabled = false\n" + b)
        #expect(configuration.sources.map(\.freshWithin) == [.seconds(7200), .seconds(86_400)])
        #expect(configuration.watched == WatchedSources(["a"], freshWithin: ["a": 7200]))
        let without = try Self.read("[sources.a]\ncache = \"1h\"\n" + a)
        // The source is not due at once for it.
        #expect(without.sources[0].identity == configuration.sources[0].identity)
        let request = EngineFixture.request("/a")
        Self.expectMistake(
            "[sources.s]\ncache = \"2h\"\nfresh_within = \"2h\"\n" + request, "sources.s.fresh_within: ")
        Self.expectMistake(
            "[defaults]\nfresh_within = \"2h\"\n[sources.s]\ncache = \"6h\"\n" + request,
            "sources.s.cache: the source would be stale between two good runs; 'fresh_within' must be longer than 'cache', 6h"
        )
        Self.expectMistake(
            "[sources.s]\nfresh_within = \"0s\"\n" + request, "sources.s.fresh_within: must be above 0")
    }

    /// The spelling of a name does not make another header of it, neither here nor in the tables around.
    @Test func aHeaderIsGivenOnce() {
        Self.expectMistake(
            "[sources.s]\n" + EngineFixture.request("/a", "headers = { Accept = \"a\", accept = \"b\" }"),
            "sources.s.requests[1].headers: 'accept' is given twice")
    }

    /// That a key lacks one of the keys of which the table lacks each is no other mistake.
    @Test(arguments: ["start = 2", "keep = [\"a\"]", "link = false"])
    func aPageWithoutAnAddressIsOneMistake(keys: String) {
        #expect {
            try Self.read(EngineFixture.request("/a", "page = { \(keys) }"))
        } throws: { error in
            let problems = (error as? ConfigurationError)?.problems ?? []
            return problems.count == 1 && problems[0].finding == "nothing leads to the next page"
        }
    }

    /// A value that is none of the key's own is one mistake, not two.
    @Test func aConditionOnAWrongValueIsNoMistake() {
        let options = "for_each = { rows = \"SELECT 1\", on_error = \"skp\", max_skipped = 2 }"
        #expect {
            try Self.read(EngineFixture.request("/a") + EngineFixture.request("/${row:a}", options))
        } throws: { error in
            let problems = (error as? ConfigurationError)?.problems ?? []
            return problems.map(\.keyPath) == ["sources.s.requests[2].for_each.on_error"]
        }
    }

    @Test(arguments: ["discard", "null", "skip"])
    func aRequiredColumnHoldsNoNull(onError: String) throws {
        func text(_ column: String) -> String {
            """
            [[sources.s.requests]]
            url = "URL/a"
            tables = [{ table = "t", element = "o", key = ["id"], columns = { id = "@id", v = { path = "@v", \(column) } } }]
            """
        }
        _ = try Self.read(text("on_error = \"\(onError)\""))
        let required = text("required = true, on_error = \"\(onError)\"")
        guard onError == "null" else {
            _ = try Self.read(required)
            return
        }
        let place = "sources.s.requests[1].tables[1].columns.v.on_error: "
        Self.expectMistake(required, place + "a required column cannot hold NULL; remove required = true to store NULL")
    }

    @Test(arguments: ["timeout", "connect_timeout"])
    func aTimeLimitIsAboveZero(key: String) {
        Self.expectMistake(
            "[sources.s]\n\(key) = \"0s\"\n" + EngineFixture.request("/a"),
            "sources.s.\(key): expected a duration above 0, found '0s'")
    }

    @Test(arguments: ["postgres://u:secret@db/x", "https://example.org/store", "file:///tmp/x.sqlite"])
    func anAddressIsNoPath(path: String) {
        #expect {
            try Self.read("[store]\npath = \"\(path)\"\n" + EngineFixture.request("/a"))
        } throws: { error in
            "\(error)".contains("store.path: this is an address") && "\(error)".contains("'url'")
                && !"\(error)".contains("secret")
        }
    }

    // MARK: - Columns

    @Test func aConstantIsConvertedWhereItsTypeSays() throws {
        let configuration = try Self.read(
            """
            [[sources.s.requests]]
            url = "URL/a"
            [[sources.s.requests.tables]]
            table = "t"
            element = "i"
            key = ["id"]
            [sources.s.requests.tables.columns]
            id = "@id"
            price = { value = "1,50", type = "decimal", decimal_separator = "," }
            text = { value = "yes" }
            number = { value = 7 }
            """)
        guard case .mapping(let mapping)? = configuration[source: "s"]?.requests.first?.content else {
            Issue.record("the request has no mapping")
            return
        }
        let columns = mapping.tables[0].columns
        #expect(columns.map(\.name) == ["id", "price", "text", "number"])
        #expect(
            columns.dropFirst().map(\.origin)
                == [.constant(.text("1,50")), .constant(.text("yes")), .constant(.integer(7))])
        #expect(columns.map(\.isConverted) == [false, true, false, false])
    }

    @Test func twoColumnsDoNotNameOneParent() {
        let tables = """
            [[sources.s.requests]]
            url = "URL/a"
            tables = [
                { table = "b", element = "b", key = ["id", "n"], columns = { id = "@id", n = "@n" } },
                { table = "c", element = "c", key = ["id", "n"], columns = { id = { parent = "b" }, n = { parent = "B" } } },
            ]
            """
        Self.expectMistake(tables, "the column 'id' names the parent 'B', too, and both would hold")
    }

    // MARK: - JSON

    @Test func aBodyIsWrittenAsJSON() throws {
        let configuration = try Self.read(
            """
            [[sources.s.requests]]
            url = "URL/list"
            capture = { token = "/list/@token" }
            [[sources.s.requests]]
            url = "URL/a"
            parser = "ItemsParser"
            [sources.s.requests.body.json]
            token = "${capture:token}"
            name = "x ${NAME}"
            count = 3
            ratio = 0.5
            since = 2026-01-02
            tags = ["a", "\\t"]
            none = []
            inner = { deep = true, "a \\"key\\"" = 1 }
            """, environment: ["NAME": "\"quoted\"\n"])
        let request = try #require(configuration[source: "s"]?.requests.last)
        #expect(request.method == "POST" && request.headers["Content-Type"]?.value == "application/json")
        #expect(request.references == [.capture("token")])
        let body = try request.body?.resolved { _ in "a\"b\\" }
        #expect(
            body?.text.value
                == #"{"token":"a\"b\\","name":"x \"quoted\"\n","count":3,"ratio":0.5,"since":"2026-01-02","tags":["a","\t"],"none":[],"inner":{"deep":true,"a \"key\"":1}}"#
        )
    }

    @Test func whatJSONCannotHoldIsRefused() {
        Self.expectMistake(
            EngineFixture.request("/a", "body = { json = { n = nan } }"), "body.json.n: JSON has no nan")
    }

    // MARK: - Fingerprints

    private static func mapping(_ options: String, sync: String = "mirror", of source: String = "s") -> String {
        """
        [[sources.\(source).requests]]
        url = "URL/\(source)"
        sync = "\(sync)"
        \(options)
        [[sources.\(source).requests.tables]]
        table = "place"
        element = "p"
        key = ["region", "id"]
        [sources.\(source).requests.tables.columns]
        zip = "@zip"
        id = "@id"
        area = "@area"

        """
    }

    /// What a request's rows depend on makes another fingerprint; where it stands in the file does not.
    @Test func aFingerprintFollowsTheDeclaration() throws {
        func fingerprint(_ mapping: String, before: String = "") throws -> String? {
            let configuration = try Self.read(before + "[sources.s]\n" + mapping)
            return configuration.sources.last?.requests.first?.validity(parserVersion: 1)
        }
        let scope = "scope = { region = \"a\" }"
        let plain = Self.mapping(scope)
        let known = try fingerprint(plain)
        #expect(try fingerprint(plain, before: Self.mapping("scope = { region = \"z\" }", of: "other")) == known)
        let changed = [
            plain.replacingOccurrences(of: "zip = \"@zip\"", with: "zip = { path = \"@zip\", type = \"integer\" }"),
            plain.replacingOccurrences(of: "element = \"p\"", with: "element = \"q\""),
            plain.replacingOccurrences(of: "zip = \"@zip\"", with: "zip = { value = \"@zip\" }"),
            Self.mapping(scope + "\nnamespaces = { a = \"urn:a\" }"),
            Self.mapping(scope + "\ncapture = { token = \"/r/t\" }"),
            Self.mapping(scope + "\npage = { counter = \"n\" }"), Self.mapping(scope + "\nheaders = { A = \"1\" }"),
            Self.mapping(scope + "\nparameters = { a = \"1\" }"), Self.mapping("scope = { region = \"b\" }"),
            Self.mapping(scope, sync: "upsert"),
        ].map { try? fingerprint($0) }
        #expect(!changed.contains(known) && !changed.contains(nil) && Set(changed).count == changed.count)
    }
}
