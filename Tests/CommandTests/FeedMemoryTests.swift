import Foundation
import GRDB
import TestEngine
import TestSupport
import Testing

/// The memory of a run does not depend on the size of its feed, whatever its mapping does with the staged rows. Each
/// document is loaded in two sizes by a process of its own, whose peak the kernel tells.
@Suite struct FeedMemoryTests {
    struct Feed: Sendable, CustomTestStringConvertible {
        var name: String
        var tables: String
        /// Returns the record of a number.
        var record: @Sendable (Int, _ text: String) -> String
        var testDescription: String { name }
    }

    static let feeds = [
        Feed(name: "each key twice", tables: item("p = \"p\"")) { "<i id='\($0 / 2)'><p>\($1)</p></i>" },
        Feed(
            name: "references",
            tables: item("p = \"p\", shop = { path = \"@shop\", references = \"shop(name)\", missing = \"create\" }")
        ) { "<i id='\($0)' shop='s\($0 % 100)'><p>\($1)</p></i>" },
        Feed(
            name: "a key that the store generates",
            tables: """
                { table = "orders", element = "i", key = ["code"], columns = { code = "@id", p = "p" } },
                { table = "line", element = "l", key = ["orders", "n"], columns = { orders = { parent = "orders" }, n = { ordinal = true }, p = "." } }
                """
        ) { "<i id='\($0)'><p>p</p><l>a</l><l>\($1)</l></i>" },
        Feed(
            name: "expired rows",
            tables: item(
                "p = \"p\", stop = { path = \"@stop\", type = \"datetime\" }",
                "expire = { column = \"stop\", after = \"2d\" }")
        ) { "<i id='\($0)' stop='\($0 % 2 == 0 ? 2001 : 2999)-01-01T00:00:00Z'><p>\($1)</p></i>" },
        Feed(
            name: "deleted records",
            tables: item("p = \"p\", gone = \"@gone\"", "deleted_when = \"gone = 'yes'\"")
        ) { "<i id='\($0)' gone='\($0 % 2 == 0 ? "yes" : "no")'><p>\($1)</p></i>" },
    ]

    private static func item(_ columns: String, _ options: String = "") -> String {
        """
        { table = "item", element = "i", key = ["id"], columns = { id = "@id", \(columns) }\(options.isEmpty ? "" : ", ")\(options) }
        """
    }

    private static let schema = """
        CREATE TABLE IF NOT EXISTS shop (id INTEGER PRIMARY KEY, name TEXT UNIQUE);
        CREATE TABLE IF NOT EXISTS orders (id INTEGER PRIMARY KEY, code TEXT UNIQUE, p TEXT);
        CREATE TABLE IF NOT EXISTS line (orders INTEGER REFERENCES orders, n INTEGER, p TEXT, PRIMARY KEY (orders, n));
        """

    /// Loads a document with a daemon.
    ///
    /// - Returns: the most memory that it had, in KiB.
    private func peak(
        _ tables: String, _ document: some Sequence<UInt8>, sync: String = "upsert", format: String = "xml",
        in folder: TemporaryFolder
    ) async throws -> Int {
        try Data(document).write(to: URL(fileURLWithPath: folder.file("feed")))
        try folder.write(Self.schema, to: "schema.sql")
        try folder.write(
            """
            [store]
            path = "store.sqlite"
            schema = "schema.sql"
            [[sources.s.requests]]
            url = "file://\(folder.file("feed"))"
            format = "\(format)"
            sync = "\(sync)"
            max_deleted = "100%"
            tables = [\(tables)]
            """, to: "sources.toml")
        let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
        let daemon = try program.start(["run", "--log-level", "error"])
        let store = folder.file("store.sqlite")
        var outcome: String?
        while outcome == nil {
            try await Task.sleep(for: .milliseconds(50))
            guard FileManager.default.fileExists(atPath: store) else { continue }
            outcome = try? await sqlite(store, "SELECT outcome || coalesce(error, '') FROM tributary_run")
        }
        #expect(outcome == "committed")
        let status = try String(contentsOfFile: "/proc/\(daemon.identifier)/status", encoding: .utf8)
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        let peak = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ")
        return try #require(peak.flatMap { $0.count > 1 ? Int($0[1]) : nil })
    }

    @Test(.timeLimit(.minutes(10)), arguments: feeds) func aFeedOfAnySizeTakesTheSame(feed: Feed) async throws {
        let text = String(repeating: "x", count: 1_500)
        var peaks: [Int] = []
        for count in [2_000, 16_000] {
            try await withTemporaryFolder { (folder) async throws in
                let records = (0..<count).map { feed.record($0, text) }.joined()
                peaks.append(try await peak(feed.tables, "<r>\(records)</r>".utf8, in: folder))
            }
        }
        // The larger one has 21 MB more.
        #expect(peaks[1] - peaks[0] < 10 << 10, "\(peaks) KiB")
    }

    /// The texts of a workbook are in a part of their own, to which its cells refer in any order.
    @Test(.timeLimit(.minutes(10))) func aWorkbookOfAnySizeTakesTheSame() async throws {
        let tables = """
            { table = "item", element = "row", key = ["id"], columns = { id = { path = "id", type = "integer" }, p = "p" } }
            """
        var peaks: [Int] = []
        for count in [20_000, 120_000] {
            try await withTemporaryFolder { (folder) async throws in
                let rows = (0..<count).map { number in
                    "<row><c><v>\(number)</v></c><c t=\"s\"><v>\(number * 7_919 % count + 2)</v></c></row>"
                }
                var workbook = Workbook(
                    "<row><c t=\"s\"><v>0</v></c><c t=\"s\"><v>1</v></c></row>" + rows.joined())
                let text = String(repeating: "x", count: 300)
                workbook.strings = ["<t>id</t>", "<t>p</t>"] + (0..<count).map { "<t>\($0) \(text)</t>" }
                peaks.append(try await peak(tables, workbook.bytes, format: "xlsx", in: folder))
            }
        }
        // The larger one has 31 MB more.
        #expect(peaks[1] - peaks[0] < 10 << 10, "\(peaks) KiB")
    }

    /// The fields of a message are read as they arrive, those of a message within it, too.
    @Test(.timeLimit(.minutes(10))) func aMessageOfAnySizeTakesTheSame() async throws {
        let tables = """
            { table = "item", element = "entity/alert/header_text/translation", key = ["id"], columns = { id = "language", p = "text" } }
            """
        let text = String(repeating: "x", count: 300)
        var peaks: [Int] = []
        for count in [20_000, 120_000] {
            try await withTemporaryFolder { (folder) async throws in
                let texts = (0..<count).flatMap { number in
                    WireMessage().message(1, WireMessage().text(1, text).text(2, "\(number)")).bytes
                }
                let alert = WireMessage().message(5, WireMessage().data(10, texts))
                let feed = WireMessage().message(1, WireMessage().text(1, "2.0")).message(2, alert)
                peaks.append(try await peak(tables, feed.bytes, format: "gtfs-realtime", in: folder))
            }
        }
        // The larger one has 31 MB more.
        #expect(peaks[1] - peaks[0] < 10 << 10, "\(peaks) KiB")
    }

    /// A small feed is merged in memory. The rows that it deletes are listed, however many they are.
    @Test(.timeLimit(.minutes(10))) func aSmallFeedMayDeleteAnyNumberOfRows() async throws {
        var peaks: [Int] = []
        for count in [100_000, 500_000] {
            try await withTemporaryFolder { (folder) async throws in
                let queue = try DatabaseQueue(path: folder.file("store.sqlite"))
                try await queue.write { db in
                    try db.execute(
                        sql: """
                            CREATE TABLE item (id TEXT PRIMARY KEY, p TEXT);
                            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                            INSERT INTO item SELECT 'key of twenty bytes ' || i, 'p' FROM n
                            """)
                }
                try queue.close()
                let tables = Self.item("p = \"p\"")
                peaks.append(try await peak(tables, "<r><i id='a'/></r>".utf8, sync: "mirror", in: folder))
            }
        }
        // The longer list has 14 MB more. Page caches take the rest.
        #expect(peaks[1] - peaks[0] < 8 << 10, "\(peaks) KiB")
    }

    /// What SQLite sorts is as large as the scratch file, and goes where that one is.
    @Test(.enabled(if: SmallDisk.isPossible)) func whatIsSortedIsInTheWorkFolder() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let disk = try SmallDisk(in: folder)
            defer { disk.remove() }
            try disk.suffer(.full)
            let text = String(repeating: "x", count: 500)
            let records = (0..<30_000).map { "<i id='\($0 &* 7_919 % 30_011)\(text)'/>" }.joined()
            try folder.write("<r>\(records)</r>", to: "feed.xml")
            try folder.write(
                """
                [store]
                path = "store.sqlite"
                [[sources.s.requests]]
                url = "file://\(folder.file("feed.xml"))"
                tables = [{ table = "item", element = "i", key = ["id"], columns = { id = "@id" } }]
                """, to: "sources.toml")
            let program = BuiltProgram(
                "tributary", config: folder.file("sources.toml"), environment: ["TMPDIR": disk.path])
            let output = try await program.run("sync")
            #expect(output.status == 0, "\(output)")
        }
    }
}
