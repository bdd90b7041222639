import Foundation
import GRDB
import TestSupport
import Testing

/// The memory of a command does not grow with a document, whatever its shape. The kernel measures it (`VmHWM`, proc(5)).
@Suite(.serialized) struct MemoryShapeTests {
    /// A document of a shape, in a size.
    struct Shape: CustomTestStringConvertible, Sendable {
        var testDescription: String
        /// The sizes whose memory is compared.
        var sizes: (small: Int, large: Int)
        /// Columns beside the key, in TOML.
        var columns = ""
        var suffix = "xml"
        /// False if `infer` refuses the large document, in which names are data.
        var isInferred = true
        var document: @Sendable (Int) -> String
    }

    private static func repeated(_ count: Int, _ text: (Int) -> String) -> String { (0..<count).map(text).joined() }

    static let shapes = [
        Shape(testDescription: "long names and many paths", sizes: (20, 800), isInferred: false) { size in
            // Each of the children has a path of 450 names.
            let name = String(repeating: "n", count: 990)
            let start = repeated(450) { "<\(name)\($0)>" }
            let end = repeated(450) { "</\(name)\(449 - $0)>" }
            return start + repeated(size) { "<a\($0)><item id='\($0)'/></a\($0)>" } + end
        },
        Shape(testDescription: "many attributes", sizes: (5, 100), isInferred: false) { size in
            let attributes = repeated(1_900) { " a\($0)='1'" }
            return "<l>" + repeated(size) { "<e\($0)\(attributes)/>" } + "<item id='1'/></l>"
        },
        Shape(
            testDescription: "many unique columns", sizes: (300, 3_000), columns: "c0 = \"c0\"\nc59 = \"c59\"",
            suffix: "csv"
        ) { size in
            "id," + repeated(60) { "c\($0)\($0 < 59 ? "," : "\n")" }
                + repeated(size) { row in "\(row)," + repeated(60) { "\(row * 60 + $0)\($0 < 59 ? "," : "\n")" } }
        },
        Shape(testDescription: "deep", sizes: (5, 100)) { size in
            let inner = repeated(990) { _ in "<d>" } + repeated(990) { _ in "</d>" }
            return "<l>" + repeated(size) { "<item id='\($0)'>\(inner)</item>" } + "</l>"
        },
        Shape(testDescription: "wide", sizes: (1_000, 20_000), columns: "v = \"v\"") { size in
            "<l>" + repeated(size) { "<item id='\($0)'><v>\($0 % 7)</v></item>" } + "</l>"
        },
        Shape(testDescription: "one long text", sizes: (1 << 16, 4 << 20)) { size in
            "<l><item id='1'/><t>" + String(repeating: "x", count: size) + "</t><item id='2'/></l>"
        },
        Shape(testDescription: "many further elements", sizes: (100, 9_000)) { size in
            "<l>" + repeated(size) { "<n\($0)>x</n\($0)>" } + "<item id='1'/><item id='2'/></l>"
        },
    ]

    /// The most kilobytes that a command takes of any of these documents, and that it takes more than of a small one. Names
    /// and paths have limits, and take up to 30 MB at these.
    private static let most = 160 << 10
    private static let room = 40 << 10

    /// Runs a command to its end.
    ///
    /// - Returns: also the most kilobytes of memory that it had. They are read all the time, as the kernel forgets them with
    ///   the process.
    private func run(_ program: BuiltProgram, _ command: String...) async throws -> (BuiltProgram.Output, peak: Int) {
        let process = try program.start(command)
        let (stream, continuation) = AsyncStream<Int>.makeStream()
        Thread.detachNewThread { [identifier = process.identifier] in
            var peak = 0
            // A process that has ended has no such line.
            while let now = Self.peak(of: identifier) {
                peak = max(peak, now)
                usleep(500)
            }
            continuation.yield(peak)
            continuation.finish()
        }
        let output = await process.output()
        return (output, await stream.first { _ in true } ?? 0)
    }

    static func peak(of process: Int32) -> Int? {
        let status = try? String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }

    @Test(.timeLimit(.minutes(5)), arguments: shapes)
    func noCommandGrowsWithTheDocument(shape: Shape) async throws {
        var peaks: [String: [Int]] = [:]
        for size in [shape.sizes.small, shape.sizes.large] {
            try await withTemporaryFolder { (folder) async throws in
                let document = try folder.write(shape.document(size), to: "document.\(shape.suffix)")
                let element = shape.suffix == "csv" ? "row" : "item"
                let id = shape.suffix == "csv" ? "id" : "@id"
                try folder.write(
                    """
                    [store]
                    path = "store.sqlite"
                    [[sources.s.requests]]
                    url = "file://\(document)"
                    [[sources.s.requests.tables]]
                    table = "t"
                    element = "\(element)"
                    key = ["id"]
                    [sources.s.requests.tables.columns]
                    id = "\(id)"
                    \(shape.columns)
                    """, to: "sources.toml")
                let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                let plan = try await run(program, "plan", "s", "--limit", "1")
                #expect(plan.0.status == 2, "\(plan.0.standardError.prefix(2000))")
                let sync = try await run(program, "sync")
                #expect(sync.0.status == 0, "\(sync.0.standardOutput) \(sync.0.standardError.prefix(2000))")
                let export = try await run(program, "export", "s")
                #expect(export.0.status == 0, "\(export.0.standardError.prefix(2000))")
                let infer = try await run(program, "infer", document)
                if shape.isInferred {
                    #expect(infer.0.status == 0, "\(infer.0.standardError.prefix(2000))")
                } else if size == shape.sizes.large {
                    #expect(infer.0.standardError.contains("names seem to be data"), "\(infer.0.standardError)")
                }
                for (command, peak) in [("plan", plan), ("sync", sync), ("export", export), ("infer", infer)] {
                    peaks[command, default: []].append(peak.peak)
                }
            }
        }
        for (command, found) in peaks.sorted(by: { $0.key < $1.key }) {
            #expect(found[0] > 0 && found[1] < found[0] + Self.room, "\(command): \(found) kB")
            #expect(found.allSatisfy { $0 < Self.most }, "\(command): \(found) kB")
        }
    }

    /// Where names are data, each document of a run has others.
    @Test func manyDocumentsWithOtherNames() async throws {
        var peaks: [String: [Int]] = [:]
        for count in [20, 600] {
            try await withTemporaryFolder { (folder) async throws in
                for number in 0..<count {
                    let members = Self.repeated(299) { "\"user-\(number)-\($0)\": 1, " }
                    try folder.write("{\(members)\"item\": [{\"id\": \(number)}]}", to: "d\(number).json")
                }
                try folder.write(
                    """
                    [store]
                    path = "store.sqlite"
                    [[sources.s.requests]]
                    url = "file://\(folder.path)/d*.json"
                    tables = [{ table = "t", element = "item", key = ["id"], columns = { id = "id" } }]
                    """, to: "sources.toml")
                let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                let (planned, peakOfPlan) = try await run(program, "plan", "s", "--limit", "1")
                #expect(planned.status == 2, "\(planned.standardError)")
                let (output, peak) = try await run(program, "sync")
                #expect(output.status == 0, "\(output)")
                peaks["plan", default: []].append(peakOfPlan)
                peaks["sync", default: []].append(peak)
            }
        }
        // 600 documents of 299 names each were 25 MB.
        let sync = peaks["sync"] ?? []
        #expect(sync[1] < sync[0] + 12 << 10, "\(sync) kB")
        // The first of the paths are listed.
        let plan = peaks["plan"] ?? []
        #expect(plan[1] < plan[0] + Self.room, "\(plan) kB")
    }

    /// Each row is in the one before. Beyond the depth of documents, the export names the table and the row.
    @Test func aChainOfRowsIsExportedOrRefused() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("<l><cat id='0'><cat id='1'/></cat></l>", to: "a.xml")
            try folder.write(
                """
                [store]
                path = "store.sqlite"
                [[sources.c.requests]]
                url = "file://\(folder.file("a.xml"))"
                tables = [{ table = "cat", element = "cat", key = ["id"], columns = { id = "@id", up = { parent = "cat" } } }]
                """, to: "sources.toml")
            var program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            program.environment["TMPDIR"] = folder.path
            _ = try await program.run("sync")
            func chain(_ count: Int) async throws {
                let statement = """
                    DELETE FROM cat; WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < \(count - 1))
                    INSERT INTO cat (id, up) SELECT i, CASE WHEN i > 0 THEN i - 1 END FROM n
                    """
                try await DatabaseQueue(path: folder.file("store.sqlite")).write { try $0.execute(sql: statement) }
            }
            try await chain(900)
            let (small, usual) = try await run(program, "export", "c")
            #expect(small.status == 0 && small.standardOutput.contains("<cat id=\"899\"/>"), "\(small.standardError)")
            try await chain(6_000)
            for command in [["export", "c"], ["export", "c", "--unchecked"]] {
                let process = try program.start(command)
                let output = await process.output()
                #expect(output.status == 1, "\(command) \(output.status)")
                #expect(
                    output.standardError.contains("table 'cat': the rows with up = ")
                        && output.standardError.contains("more than 1000 deep"), "\(output.standardError)")
            }
            #expect(usual < 200 << 10, "\(usual) kB")
            let left = try files(in: folder.path).filter { $0.hasPrefix("tributary-export") }
            #expect(left == [])
        }
    }

    /// The daemon tries documents of up to 8 MiB.
    @Test(.timeLimit(.minutes(2))) func aTrialInTheDaemonTakesLittle() async throws {
        try await PageFixture.with(defaults: "allow_private = true") { (fixture) async throws in
            let names = ["many attributes", "many unique columns", "deep", "wide", "many further elements"]
            for shape in Self.shapes where names.contains(shape.testDescription) {
                let document = shape.document(shape.sizes.large)
                let type = shape.suffix == "csv" ? "text/csv" : "text/xml"
                fixture.server.route("/\(shape.suffix)") { _ in
                    StubServer.response(200, document, ["Content-Type": type])
                }
                let answer = try await fixture.page.post("/api/try?url=\(fixture.server.url)/\(shape.suffix)")
                #expect(answer.status == 200, "\(shape.testDescription): \(answer.status)")
            }
            let peak = try #require(Self.peak(of: fixture.daemon.identifier))
            #expect(peak < 250 << 10, "\(peak) kB")
        }
    }
}
