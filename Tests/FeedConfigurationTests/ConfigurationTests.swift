import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import TributaryEngine

@Suite struct ConfigurationTests {
    private func read(_ text: String, environment: [String: String] = [:], files: [String: String] = [:]) async throws
        -> TributaryConfiguration
    {
        try await withTemporaryFolder { folder in
            for (name, content) in files { try folder.write(content, to: name) }
            return try TributaryConfiguration(
                file: folder.write(text, to: "sources.toml"), parsers: EngineFixture.registry, environment: environment)
        }
    }

    private func problems(_ text: String, environment: [String: String] = [:]) async throws -> [String] {
        do {
            _ = try await read(text, environment: environment)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map { "\($0.line ?? 0): \($0.keyPath): \($0.message)" }
        }
    }

    let valid = """
        [store]
        path = "data/store.sqlite"
        [daemon]
        concurrency = 3
        [defaults]
        timeout = "7s"
        headers = { Accept = "text/xml", X-Team = "a" }
        [sources.one]
        cache = "1d"
        parser = "ItemsParser"
        [[sources.one.requests]]
        url = "https://example.org/a.xml"
        [[sources.one.requests]]
        key = "second"
        url = "file:///tmp/b.xml"
        timeout = "500ms"
        max_body = "64KiB"
        sync = "mirror"
        scope = { shop = "north" }
        headers = { x-team = "b" }
        parameters = { page = 1, all = true }
        [sources.two]
        enabled = false
        requests = [{ url = "http://example.org/", parser = "CompaniesParser" }]
        """

    @Test func everyLevelHandsItsOptionsDown() async throws {
        let configuration = try await read(valid)
        #expect(configuration.concurrency == 3 && configuration.perHost == 2)
        #expect(configuration.localPath.hasSuffix("/data/store.sqlite"))
        let one = try #require(configuration[source: "one"])
        #expect(one.cache == .seconds(86_400))
        #expect(one.requests.map(\.key) == ["1", "second"])
        #expect(one.requests.map(\.timeout) == [.seconds(7), .milliseconds(500)])
        #expect(one.requests[0].maxBody == 256 << 20 && one.requests[1].maxBody == 64 << 10)
        #expect(one.requests[1].sync == .mirror && one.requests[1].scope == ["shop": "north"])
        #expect(one.requests[0].headers.mapValues(\.value) == ["Accept": "text/xml", "X-Team": "a"])
        #expect(one.requests[1].headers.mapValues(\.value) == ["Accept": "text/xml", "x-team": "b"])
        #expect(one.requests[1].parameters.mapValues(\.value) == ["page": "1", "all": "true"])
        #expect(configuration[source: "two"]?.isEnabled == false)
        #expect(configuration.enabledSources.map(\.name) == ["one"])
    }

    /// A key that is one level off is told where it belongs.
    @Test func aKeyInAnotherTableIsToldItsOwn() async throws {
        let found = try await problems(
            """
            [defaults]
            include = ["conf.d/*.toml"]
            [sources.a]
            duplicates = "discard"
            [[sources.a.requests]]
            url = "https://example.org/"
            keep_history = true
            delimiter = ";"
            [[sources.a.requests.tables]]
            table = "t"
            element = "i"
            keep_history = true
            decimal_separator = ","
            nonsense = 1
            columns = { id = "@id" }
            """)
        #expect(
            found.map { $0.prefix(160).description }.prefix(6) == [
                "2: defaults.include: unknown key; it belongs in the first lines of the file, before all tables",
                "4: sources.a.duplicates: unknown key; it belongs in [[sources.a.requests.tables]]",
                "7: sources.a.requests[1].keep_history: unknown key; it belongs in [sources.a]",
                "8: sources.a.requests[1].delimiter: unknown key; it belongs in [sources.a.requests.csv]",
                "12: sources.a.requests[1].tables[1].keep_history: unknown key; it belongs in [sources.a]",
                "13: sources.a.requests[1].tables[1].decimal_separator: unknown key; it belongs in "
                    + "[sources.a.requests.tables.columns.COLUMN]",
            ], "\(found)")
        #expect(found.last?.contains("nonsense: unknown key; known here: ") == true, "\(found)")
    }

    @Test func everyMistakeAtOnceWithLineAndNearestName() async throws {
        let found = try await problems(
            """
            [stroe]
            path = "x"
            [daemon]
            concurrency = 0
            per_host = "two"
            [sources.a]
            cache = "15 minutes"
            [[sources.a.requests]]
            key = "same"
            url = "https://example.org/"
            parser = "ItemParser"
            timeuot = "5s"

            [[sources.a.requests]]
            key = "same"
            url = "gopher://example.org/"
            parser = "ItemsParser"
            sync = "miror"
            max_body = 5
            headers = { "Bad Name" = "x", Good = [1] }
            [sources.b]
            [[sources.c.requests]]
            parser = "ItemsParser"
            [[sources.d.requests]]
            url = "${NOT_SET}"
            """)
        let expected = [
            "1: stroe: unknown key; did you mean 'store'?",
            "4: daemon.concurrency: expected an integer above 0, found 0",
            "5: daemon.per_host: expected an integer, found a string",
            "7: sources.a.cache: '15 minutes' is not a duration",
            "11: sources.a.requests[1].parser: the parser 'ItemParser' is not registered; did you mean 'ItemsParser'?",
            "12: sources.a.requests[1].timeuot: unknown key; did you mean 'timeout'?",
            "15: sources.a.requests[2].key: two requests of the source have the key 'same'",
            "16: sources.a.requests[2].url: 'gopher://example.org/' cannot be used: it is not an http:, https:, s3:, sftp:, ftps:, ftp: or file: URL",
            "18: sources.a.requests[2].sync: expected one of append, insert, upsert, mirror, found 'miror'; did you mean 'mirror'?",
            "19: sources.a.requests[2].max_body: expected a size such as \"64MiB\", found an integer",
            "20: sources.a.requests[2].headers: 'Bad Name' is not a header's name",
            "20: sources.a.requests[2].headers.Good: expected a string, a number, a boolean or a date, found an array",
            "21: sources.b: 'requests' is missing",
            "22: sources.c.requests[1]: 'url' is missing",
            "24: sources.d.requests[1]: the request has no parser",
            "25: sources.d.requests[1].url: the environment variable 'NOT_SET' is not set",
        ]
        for line in expected {
            #expect(found.contains { $0.hasPrefix(line) }, "\(line)\nin \(found.joined(separator: "\n"))")
        }
        #expect(found.count == expected.count)
    }

    /// What other rules say of a key that is a mistake already follows from it.
    @Test(arguments: [
        ("[hooks.a]\non = [\"chnged\"]\nformat = \"debezium\"\npost = \"https://x.example/h\"", ["hooks.a.on[1]"]),
        (
            "[hooks.a]\non = [\"failing\"]\nrun = [\"${UNSET}\"]\npost = \"https://x.example/h\"",
            ["hooks.a", "hooks.a.run[1]"]
        ),
        (
            """
            [sources.s]
            auth = { oauth2 = { token_url = "https://x.example/t", client_id = "c", client_secret = "b", grant = "refresh_token", refresh_tokn = "a" } }
            requests = [{ url = "https://x.example/", parser = "ItemsParser" }]
            """, ["sources.s.auth.oauth2.refresh_tokn"]
        ),
        (
            """
            [[sources.s.requests]]
            url = "https://x.example/"
            [[sources.s.requests.tables]]
            table = "t"
            element = "e"
            key = ["price"]
            columns = { price = { path = "p", sql = "x", type = "decimal", decimal_separator = "," } }
            """, ["sources.s.requests[1].tables[1].columns.price"]
        ),
    ]) func whatFollowsFromAMistakeIsNone(text: String, places: [String]) async throws {
        let found = try await problems("[store]\npath = \"s.sqlite\"\nencryption_key = \"\(Self.key)\"\n" + text)
        #expect(
            found.compactMap { $0.split(separator: ": ").dropFirst().first.map(String.init) }.sorted() == places,
            "\(found)")
    }

    private static let key = String(repeating: "07", count: 32)

    @Test func brokenTOMLAndMissingFiles() async throws {
        #expect(try await problems("[store\npath = 1").first?.hasPrefix("1: : this is not TOML") == true)
        #expect(throws: ConfigurationError.self) {
            try TributaryConfiguration(file: "/nowhere/sources.toml", parsers: EngineFixture.registry, environment: [:])
        }
    }

    @Test func duplicateSourcesAreNotTOML() async throws {
        let text = "[sources.a]\ncache = \"1s\"\n[sources.a]\ncache = \"1s\"\n"
        #expect(try await problems(text).first?.contains("this is not TOML") == true)
    }

    @Test func valuesFromEnvironmentAndFilesNeverShow() async throws {
        let text = """
            [[sources.s.requests]]
            url = "https://${HOST}/x?key=${file:token}"
            parser = "ItemsParser"
            headers = { Authorization = "Bearer ${file:token}", Plain = "$${HOST}" }
            """
        let configuration = try await read(text, environment: ["HOST": "example.org"], files: ["token": "s3cret!\n"])
        let request = try #require(configuration[source: "s"]?.requests.first)
        #expect(request.url.value == "https://example.org/x?key=s3cret!")
        #expect("\(request.url)" == "https://${HOST}/x?key=${file:token}")
        #expect(request.headers["Authorization"]?.value == "Bearer s3cret!")
        #expect(request.headers["Plain"]?.value == "${HOST}")
        #expect(
            configuration.redactor.redact("at https://example.org/?key=s3cret%21 or s3cret!")
                == "at https://example.org/?key=[secret] or [secret]")
        let problem = try await problems(
            "[[sources.s.requests]]\nurl = \"${file:nothing}\"\nparser = \"ItemsParser\"\n")
        #expect(problem.first?.contains("does not exist") == true)
    }

    @Test func credentialsDirectoryComesFirst() async throws {
        try await withTemporaryFolder { (credentials) async throws in
            try credentials.write("from systemd", to: "token")
            let text =
                "[[sources.s.requests]]\nurl = \"https://e.org/\"\nbody = \"${file:token}\"\nparser = \"ItemsParser\"\n"
            let configuration = try await read(
                text, environment: ["CREDENTIALS_DIRECTORY": credentials.path], files: ["token": "from the folder"])
            #expect(configuration[source: "s"]?.requests.first?.body?.text.value == "from systemd")
        }
    }

    @Test func tenThousandSources() async throws {
        let text = (0..<10_000).map {
            "[[sources.s\($0).requests]]\nurl = \"http://h\($0 % 200).example/\"\nparser = \"ItemsParser\"\n"
        }.joined()
        #expect(try await read(text).sources.count == 10_000)
    }

    @Test(arguments: [("500ms", 0.5), ("5s", 5), ("15m", 900), ("6h", 21_600), ("1d", 86_400)])
    func durations(text: String, seconds: Double) {
        #expect(Duration(configuration: text)?.seconds == seconds)
    }

    @Test(arguments: ["", "5", "s", "-5s", "5 s", "1h30m", "1.5h", "99999999999999d", "٥s"])
    func notDurations(text: String) {
        #expect(Duration(configuration: text) == nil)
    }
}
