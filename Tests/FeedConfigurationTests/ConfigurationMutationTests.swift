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

/// Configurations that somebody has damaged: each is read, or refused with a reason, and none ends the process.
///
/// A few in the suite; `TRIBUTARY_MUTATIONS=20000 TRIBUTARY_SEED=7 swift test --filter ConfigurationMutationTests` for more.
@Suite struct ConfigurationMutationTests {
    /// A generator whose numbers are the same in each run.
    private struct Noise: RandomNumberGenerator {
        var state: UInt64

        /// SplitMix64.
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var value = state
            value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
            value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
            return value ^ (value >> 31)
        }
    }

    private static let environment = [
        "CONTACTS_TOKEN": "secret", "SHOP_PASSWORD": "p", "RATES_KEY": "k", "SAMPLE_FEEDS": "http://127.0.0.1:9",
    ]

    private static let everything = """
        [store]
        path = "a.sqlite"
        history = "90d"
        encryption_key = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
        [daemon]
        concurrency = 8
        per_host = 2
        [hosts."e.org"]
        per_host = 1
        pace = "60s"
        [defaults]
        schedule = "0 6 * * 1-5"
        time_zone = "Europe/Berlin"
        timeout = "30s"
        max_body = "64KiB"
        headers = { Accept = "text/xml" }
        retries = 2
        [sources.a]
        cache = "15m"
        allow_private = true
        auth = { oauth2 = { token_url = "https://e.org/t", client_id = "i", client_secret = "s", scope = "x" } }
        proxy = "http://user:pass@127.0.0.1:3128"
        [[sources.a.requests]]
        key = "login"
        url = "https://e.org:8443/login?x=1#y"
        body = { xml = { login = { "@x" = 1, "." = "t", user = ["a", "b"] } } }
        capture = { token = "/login/token" }
        [[sources.a.requests]]
        url = "https://e.org/${capture:token}"
        parameters = { since = "${last:max(updated)}", n = 1 }
        page = { counter = "offset", start = 0, step = 100, max_pages = 50 }
        accept_status = [200, 203]
        scope = { shop = "north" }
        namespaces = { p = "urn:p" }
        root = "orders"
        sync = "mirror"
        [[sources.a.requests.tables]]
        table = "orders"
        element = "/orders/p:order[@open!='no']"
        key = ["id"]
        order = ["id", "day"]
        [sources.a.requests.tables.columns]
        id = { path = "@id", type = "integer" }
        day = { path = "../day", type = "datetime", format = "%d.%m.%Y %H:%M" }
        unix = { path = "t", type = "date", format = "dd.MM.yyyy'x'" }
        state = { path = "state", values = { open = 1, shut = 2 }, default = "shut" }
        tags = { path = "tag", repeat = "join", separator = ", " }
        firm = { path = "firm", references = "firm(name)", missing = "create", set = { city = "firm/@city" }, update = true }
        pin = { path = "string(pin)", encrypted = true, on_error = "null" }
        nr = { ordinal = true }
        from = { response = "url" }
        what = { value = 1.5, export = false }
        [[sources.a.requests.tables]]
        table = "line"
        element = "/orders/p:order/line"
        within = "order_id"
        columns = { order_id = { parent = "orders" }, sku = "@sku" }
        [[sources.a.requests]]
        url = "https://e.org/${row:id}"
        for_each = "SELECT id FROM staged.orders"
        concurrency = 3
        max_requests = 10
        parser = "ItemsParser"
        [sources.b]
        enabled = false
        parser = "mirrored"
        requests = [{ url = "file:///tmp/x.xml", soap = { name = "Op", namespace = "urn:o", parameters = { a = true } } }]
        """

    private static let pieces: [String] = [
        "9223372036854775807", "-9223372036854775808", "9223372036854775808", "0", "-1", "1e400", "nan",
        "0x7fffffffffffffff",
        "\"\"", "\"\\u0000\"", "\"9223372036854775807d\"", "\"36525d\"", "\"9223372036854775807GiB\"",
        "\"99999999999999999999999s\"",
        "\"http://127.0.0.1:99999/\"", "\"http://[::1\"", "\"http://user:@/\"", "\"file:\"", "\"file://\"", "\"//\"",
        "\"%\"",
        "\"http://e\\u0301.org:0/\"", "\"//a\"", "\"../../@x\"", "\"a[\"", "\"a[@b='\"", "\"string(\"",
        "\"string(a/..)\"", "\".\"",
        "\"@\"", "\"p:\"", "\":p\"", "\"%s\"", "\"%\"", "\"yyyy'\"", "\"'\"",
        "\"SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS yyyy\"",
        "\"${\"", "\"$${\"", "\"${}\"", "\"${capture:}\"", "\"${row:}\"", "\"${file:}\"", "\"${file:/}\"", "\"firm()\"",
        "\"(\"",
        "\")\"", "\"f(a)(b)\"", "\"\\\"\"", "\"sqlite_x\"", "\"a\\u0301\"", "\"\\r\\n\"", "\"{\"", "\"<\"",
        "\"<?xml ?><a/>\"",
        "[]", "{}", "[[]]", "[{}]", "{ \"\" = {} }", "[1, \"a\", {}]", "true", "false", "1979-05-27", "07:32:00", "''",
        "[sources.a]", "[[sources.a.requests]]", "[sources.a.requests]", "[sources.\"\"]", "[sources.\"a.b\"]",
        "[[sources]]",
        "url = 1", "tables = []", "tables = [{}]", "columns = {}", "key = []", "for_each = \"\"", "page = {}",
        "until = {}", "slices = {}",
        "soap = {}",
        "body = { xml = {} }", "auth = {}", "proxy = \"socks5://:1\"", "proxy = \"http://h:99999\"", "=", "[", "]", "{",
        "}", "\"",
        ",", ".", "#", "\n", "\r", "\0", "\u{FEFF}", "\u{7F}", "é", "e\u{301}",
    ]

    private static func seeds() throws -> [[UInt8]] {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("../..")
        let manual = root.appendingPathComponent("Documentation")
        let pages = try FileManager.default.contentsOfDirectory(atPath: manual.path).sorted().filter {
            $0.hasSuffix(".md")
        }
        let documents = try
            ([root.appendingPathComponent("README.md")] + pages.map { manual.appendingPathComponent($0) })
            .map { try String(contentsOf: $0, encoding: .utf8) }
        let blocks = documents.flatMap { document in
            document.components(separatedBy: "```toml\n").dropFirst().compactMap {
                $0.components(separatedBy: "```").first
            }
        }
        let sample = try String(contentsOf: root.appendingPathComponent("sources.toml"), encoding: .utf8)
        return (blocks + [sample, everything, everything, everything]).map { Array($0.utf8) }
    }

    private func mutated(_ document: [UInt8], among seeds: [[UInt8]], _ noise: inout Noise) -> [UInt8] {
        var bytes = document
        for _ in 0..<Int.random(in: 1...4, using: &noise) {
            let start = Int.random(in: 0...bytes.count, using: &noise)
            let end = min(bytes.count, start + [1, 1, 3, 10, 60].randomElement(using: &noise)!)
            let piece = Array(Self.pieces.randomElement(using: &noise)!.utf8)
            switch Int.random(in: 0..<8, using: &noise) {
            case 0: bytes.replaceSubrange(start..<end, with: piece)
            case 1: bytes.insert(contentsOf: piece, at: start)
            case 2: bytes.removeSubrange(start..<end)
            case 3: bytes.insert(contentsOf: bytes[start..<end], at: start)
            case 4: if start < end { bytes[start] = UInt8.random(in: 0...255, using: &noise) }
            case 5:
                let other = seeds.randomElement(using: &noise)!
                bytes.insert(
                    contentsOf: other.dropFirst(Int.random(in: 0...other.count, using: &noise)).prefix(80), at: start)
            default:
                // A whole value becomes another one.
                let lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map { Array($0) }
                var changed = lines
                let index = Int.random(in: 0..<lines.count, using: &noise)
                let signs = lines[index].indices.filter { lines[index][$0] == UInt8(ascii: "=") }
                guard let sign = signs.randomElement(using: &noise) else { continue }
                let rest = lines[index][(sign + 1)...].drop { ![44, 125, 93].contains($0) }
                changed[index] = lines[index][...sign] + [32] + piece + (Bool.random(using: &noise) ? Array(rest) : [])
                bytes = Array(changed.joined(separator: [10]))
            }
        }
        return bytes
    }

    @Test func everyOneIsReadOrRefused() async throws {
        let settings = ProcessInfo.processInfo.environment
        let count = settings["TRIBUTARY_MUTATIONS"].flatMap { Int($0) } ?? 100
        var noise = Noise(state: settings["TRIBUTARY_SEED"].flatMap { UInt64($0) } ?? 1)
        let log = settings["TRIBUTARY_MUTATIONS_LAST"]
        let seeds = try Self.seeds()
        var figures = (read: 0, refused: 0)
        try await withTemporaryFolder { (folder) async throws in
            let file = folder.file("sources.toml")
            for number in 0..<count {
                let bytes = mutated(seeds.randomElement(using: &noise)!, among: seeds, &noise)
                if let log { try Data(bytes).write(to: URL(fileURLWithPath: log)) }
                do {
                    let configuration = try ConfigurationReader(
                        file: file, bytes: bytes, parsers: EngineFixture.registry, environment: Self.environment
                    ).read()
                    figures.read += 1
                    for request in configuration.sources.flatMap(\.requests) {
                        use(request)
                        if number % 16 == 0 { try prepare(request, in: folder, number) }
                    }
                } catch let error as ConfigurationError {
                    figures.refused += 1
                    #expect(!error.problems.isEmpty && error.problems.allSatisfy { !$0.message.isEmpty })
                    #expect(error.problems.allSatisfy { $0.line.map { $0 > 0 } ?? true })
                }
            }
        }
        if log != nil { print("\(figures.read) read, \(figures.refused) refused") }
        #expect(figures.read > 0 && figures.refused > count / 10)
    }

    /// What a run asks of a declaration before the network is touched.
    private func use(_ request: RequestDeclaration) {
        _ = request.validity(parserVersion: 1)
        _ = request.references
        _ = try? PreparedRequest(request)
        _ = TimeInterval(request.timeout.seconds)
        guard let paging = request.paging else { return }
        _ = paging.firstPage(of: request)
        for page in [1, paging.maxPages - 1, paging.maxPages] {
            var pages = PageSequence(paging, page: page)
            _ = try? pages.next(after: request, .at("http://e.org/"), records: 1, found: "/a")
        }
    }

    private func prepare(_ request: RequestDeclaration, in folder: TemporaryFolder, _ number: Int) throws {
        let store = try SQLiteStore(path: folder.file("\(number)-\(UUID()).sqlite"))
        defer { try? store.close() }
        do {
            try request.prepare(store, parsers: EngineFixture.registry)
            try request.checkForEach(store, source: "s")
        } catch is StoreError {
        }
    }
}
