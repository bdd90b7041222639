import FeedConfiguration
import FeedModel
import FeedStaging
import FeedStores
import Foundation
import SQLiteStore
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine

/// Requests whose body is an archive of documents.
@Suite struct DocumentsTests {
    private static func sources(_ path: String = "/a", options: String = "documents = \"**/*.xml\"") -> String {
        """
        [[sources.s.requests]]
        url = "URL\(path)"
        sync = "mirror"
        max_deleted = "100%"
        \(options)
        """ + tables
    }

    /// The mapping of articles, with the document of each.
    static let tables = """

        [[sources.s.requests.tables]]
        table = "article"
        element = "a"
        key = ["sku"]
        [sources.s.requests.tables.columns]
        sku = { path = "@sku", type = "integer" }
        name = "@name"
        member = { response = "member" }
        """

    private static let files = [
        (name: "one.xml", content: "<l><a sku='1' name='A'/></l>"),
        (name: "README.txt", content: "not XML"),
        (name: "deep/er/two.xml", content: "<l><a sku='2' name='B'/><a sku='3' name='C'/></l>"),
        (name: "empty.xml", content: "<l/>"),
    ]
    private static let all = ["1|A|one.xml", "2|B|deep/er/two.xml", "3|C|deep/er/two.xml"]
    static let rows = "SELECT sku, name, member FROM article ORDER BY sku"

    private static func zip(_ files: [(name: String, content: String)] = files) -> [UInt8] {
        Zip.archive(files.map { Zip.File(name: $0.name, content: $0.content) })
    }

    @discardableResult
    private func sync(_ fixture: EngineFixture, _ body: [UInt8], _ sources: String = sources()) async throws
        -> RunReport
    {
        fixture.server.route("/a") { _ in StubServer.response(200, body, ["Content-Type": "application/octet-stream"]) }
        return try #require(await fixture.sync(sources).first)
    }

    /// Expects that a body discards the run, with this in the message, and changes no row.
    private func expectDiscarded(
        _ fixture: EngineFixture, _ body: [UInt8], _ message: String, _ sources: String = sources(),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let report = try await sync(fixture, body, sources)
        #expect(report.outcome == .discarded, sourceLocation: sourceLocation)
        #expect(
            report.error?.contains(message) == true, "\(String(describing: report.error))",
            sourceLocation: sourceLocation)
        #expect(try fixture.rows(Self.rows) == Self.all, sourceLocation: sourceLocation)
    }

    @Test func everyFormatIsOneCommit() async throws {
        try await EngineFixture.with { (fixture) async throws in
            var bodies = [Self.zip()]
            bodies += Tar.Compression.allCases.map { Tar.archive(Self.files, $0) }
            for (number, body) in bodies.enumerated() {
                // Another set of rows, which the next archive replaces.
                try await sync(fixture, Self.zip([(name: "x.xml", content: "<l><a sku='9' name='X'/></l>")]))
                let report = try await sync(fixture, body)
                #expect(report.outcome == .committed, "\(number): \(String(describing: report.error))")
                #expect(try fixture.rows(Self.rows) == Self.all, "\(number)")
            }
        }
    }

    /// pbzip2 writes several streams. libarchive takes a damaged beginning of a further one for the end.
    @Test func aCutFileOfSeveralStreamsDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func document(_ range: ClosedRange<Int>) -> String { range.map { "<a sku='\($0)' name='N'/>" }.joined() }
            let first = Tar.compressed("<l>" + document(1...2), .bzip2)
            let second = Tar.compressed(document(3...3) + "</l>", .bzip2)
            let whole = Tar.compressed("<l>" + document(1...2) + "</l>", .bzip2)
            let sources = Self.sources(options: "documents = \"*\"")
            #expect(try await sync(fixture, first + second, sources).counts.inserted == 3)
            var damaged = second
            damaged[0] ^= 1
            for tail in [Array(second.prefix(10)), damaged] {
                let report = try await sync(fixture, whole + tail, sources)
                #expect(report.outcome == .discarded, "\(report)")
                #expect(report.error?.contains("cut off or damaged") == true, "\(report)")
                #expect(try fixture.rows("SELECT count(*) FROM article") == ["3"])
            }
        }
    }

    @Test func aCompressedFileIsOneDocument() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for compression in Tar.Compression.allCases {
                let content = "<l><a sku='1' name='\(compression)'/></l>"
                let report = try await sync(fixture, Tar.compressed(content, compression))
                #expect(report.outcome == .committed, "\(compression): \(String(describing: report.error))")
                #expect(try fixture.rows(Self.rows) == ["1|\(compression)|a"])
            }
        }
    }

    @Test func theSameArchiveIsNotParsedAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            #expect(try await sync(fixture, Self.zip()).outcome == .committed)
            #expect(try await sync(fixture, Self.zip()).outcome == .unchanged)
            let other = Self.sources(options: "documents = \"*.xml\"")
            #expect(try await sync(fixture, Self.zip(), other).outcome == .committed, "another pattern, other rows")
            #expect(try fixture.rows(Self.rows) == ["1|A|one.xml"])
        }
    }

    /// Three requests, each with its own member of one archive.
    private static func stack(third: String = "@name") -> String {
        (1...3).map { number in
            """
            [[sources.s.requests]]
            url = "URL/a"
            sync = "mirror"
            max_deleted = "100%"
            documents = "\(number).xml"
            tables = [{ table = "t\(number)", element = "a", key = ["sku"],
                columns = { sku = "@sku", name = "\(number == 3 ? third : "@name")" } }]

            """
        }.joined()
    }

    /// Serves one version of an archive, or each time another one.
    private static func serve(_ fixture: EngineFixture, _ version: @escaping @Sendable () -> Int) {
        fixture.server.route("/a") { request in
            let version = version()
            let etag = "\"v\(version)\""
            if request.headers["if-none-match"] == etag { return [StubServer.head(304, ["ETag": etag])] }
            let body = zip(
                (1...3).map {
                    (name: "\($0).xml", content: "<l><a sku='1' name='v\(version)' other='o\(version)'/></l>")
                })
            return StubServer.response(200, body, ["ETag": etag])
        }
    }

    private static let names = "SELECT t1.name, t2.name, t3.name FROM t1, t2, t3"

    @Test func requestsForOneArchiveReadOneVersionOfIt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let version = Mutex(0)
            Self.serve(fixture) {
                version.withLock {
                    $0 += 1; return $0
                }
            }
            for number in 1...2 {
                #expect(try #require(await fixture.sync(Self.stack()).first).outcome == .committed)
                #expect(try fixture.rows(Self.names) == ["v\(number)|v\(number)|v\(number)"])
                #expect(fixture.server.requests("/a").count == number)
            }
        }
    }

    @Test func anUnchangedArchiveIsAskedForOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let version = Mutex(1)
            Self.serve(fixture) { version.withLock { $0 } }
            try await fixture.sync(Self.stack())
            #expect(try #require(await fixture.sync(Self.stack()).first).outcome == .unchanged)
            #expect(fixture.server.requests("/a").count == 2)
            // The third has another mapping, and the archive changes after the 304 for the first two.
            let asked = Mutex(0)
            Self.serve(fixture) {
                asked.withLock {
                    $0 += 1; return $0
                }
            }
            let report = try #require(await fixture.sync(Self.stack(third: "@other")).first)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(asked.withLock { $0 } == 2)
            #expect(try fixture.rows(Self.names) == ["v2|v2|o2"])
        }
    }

    @Test func whatIsWrongDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let zip = Self.zip()
            #expect(try await sync(fixture, zip).outcome == .committed)
            let tar = Tar.archive(Self.files)
            try await expectDiscarded(fixture, Array(zip.dropLast(30)), "ended before its last byte")
            try await expectDiscarded(fixture, Array(tar.prefix(1024 + 512)), "ended before its end marker")
            try await expectDiscarded(fixture, Array(tar.prefix(1024 + 600)), "Truncated tar archive")
            for compression in [Tar.Compression.gzip, .bzip2, .xz, .zstd] {
                let cut = Array(Tar.archive(Self.files, compression).dropLast(40))
                let report = try await sync(fixture, cut)
                #expect(report.outcome == .discarded, "\(compression)")
            }
            var encrypted = zip
            encrypted[6] |= 1
            let directory = try #require(zip.indices.first { zip[$0...].starts(with: [0x50, 0x4B, 1, 2]) })
            encrypted[directory + 8] |= 1
            try await expectDiscarded(fixture, encrypted, "the member 'one.xml' of the archive is encrypted")
            var damaged = zip
            damaged[14] ^= 1
            damaged[directory + 16] ^= 1
            try await expectDiscarded(fixture, damaged, "document 'one.xml'")
            let climbing = Self.zip([(name: "../one.xml", content: "<l/>")])
            try await expectDiscarded(fixture, climbing, "the member '../one.xml' has a path that leads out")
            let broken = Self.zip(Self.files + [(name: "z.xml", content: "<l><a sku='4'></l>")])
            try await expectDiscarded(fixture, broken, "document 'z.xml'")
            let none = Self.zip([(name: "a.json", content: "{}")])
            try await expectDiscarded(
                fixture, none, "no member of the archive matches documents = \"**/*.xml\"; it holds 'a.json'")
            try await expectDiscarded(fixture, Self.zip([]), "it holds no file")
            let empty = Self.zip([(name: "a.xml", content: "<l/>"), (name: "b.xml", content: "<l/>")])
            try await expectDiscarded(fixture, empty, "none of the documents held a record")
            try await expectDiscarded(fixture, [], "the body is empty")
        }
    }

    @Test func membersAreMended() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(options: "documents = \"*.xml\"\nrepair = [\"ampersands\"]")
            let body = Self.zip([(name: "a.xml", content: "<l><a sku='1' name='A & B'/></l>")])
            let report = try await sync(fixture, body, sources)
            #expect(report.outcome == .committed && report.note?.contains("was repaired") == true, "\(report)")
            #expect(try fixture.rows(Self.rows) == ["1|A & B|a.xml"])
        }
    }

    /// ZIP archives without the flag for UTF-8 have names in code page 437.
    @Test func namesThatAreNotUTF8AreInTheirCodePage() async throws {
        try await EngineFixture.with { (fixture) async throws in
            var body = Self.zip([
                (name: "AB.xml", content: "<l><a sku='1' name='A'/></l>"),
                (name: "CB.xml", content: "<l><a sku='2' name='B'/></l>"),
            ])
            for (letter, byte) in [("A", UInt8(0x81)), ("C", 0x84)] {
                let name = Array("\(letter)B.xml".utf8)
                for start in body.indices.dropLast(name.count) where body[start...].starts(with: name) {
                    body[start] = byte
                }
            }
            #expect(try await sync(fixture, body).outcome == .committed)
            #expect(try fixture.rows(Self.rows) == ["1|A|üB.xml", "2|B|äB.xml"])
        }
    }

    /// A mirror must not take a member for another one, or for none.
    @Test func aMemberWithTwoNamesDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body = Self.zip()
            #expect(try await sync(fixture, body).outcome == .committed)
            // The name's first byte, and its length, before the data of the first member.
            for (offset, bit) in [(30, UInt8(4)), (26, 1), (26, 64)] {
                var damaged = body
                damaged[offset] ^= bit
                try await expectDiscarded(fixture, damaged, "the member 'one.xml' of its directory has the name '")
            }
        }
    }

    @Test func bombsMeetLimits() async throws {
        try await EngineFixture.with { (fixture) async throws in
            #expect(try await sync(fixture, Self.zip()).outcome == .committed)
            let limited = Self.sources(options: "documents = \"**/*.xml\"\nmax_body = \"64KiB\"")
            let blank = "<l>" + String(repeating: " ", count: 1 << 20) + "</l>"
            let message = "larger than max_body, 64 KiB"
            try await expectDiscarded(fixture, Self.zip([(name: "a.xml", content: blank)]), message, limited)
            // What is not wanted is unpacked, too, to be skipped.
            for compression in [Tar.Compression.bzip2, .xz, .zstd] {
                let many = (0..<4).map { (name: "\($0).txt", content: blank) }
                try await expectDiscarded(fixture, Tar.archive(many, compression), message, limited)
            }
            let parts = (0..<8).map { (name: "\($0).xml", content: String(blank.prefix(10_000)) + "</l>") }
            try await expectDiscarded(fixture, Self.zip(parts), message, limited)
            let many = Zip.archive(
                (0...100_000).map { Zip.File(name: "\($0).xml", content: "<l/>", isDeflated: false) })
            try await expectDiscarded(fixture, many, "more than 100000 members")
        }
    }

    @Test func nothingIsAllowedToBeEmpty() async throws {
        try await EngineFixture.with { (fixture) async throws in
            #expect(try await sync(fixture, Self.zip()).outcome == .committed)
            let sources = Self.sources(options: "documents = \"*.none\"\nallow_empty = true")
            #expect(try await sync(fixture, Self.zip(), sources).outcome == .committed)
            #expect(try fixture.rows(Self.rows).isEmpty)
        }
    }

    @Test func mistakesAreNamed() async throws {
        let mistakes = [
            ("documents = \"/*.xml\"", "documents: '/*.xml' begins with '/'"),
            ("documents = \"\"", "documents: is empty"),
            ("documents = \"*\"\npage = { link = true }", "a request of several documents cannot have 'page'"),
            ("documents = 1", "documents: expected a string"), ("document = \"*\"", "did you mean 'documents'?"),
        ]
        for (options, message) in mistakes {
            try await EngineFixture.expectMistake(Self.sources(options: options), message)
        }
    }
}

@Suite struct MemberPatternTests {
    @Test(arguments: [
        ("*.xml", "a.xml", true), ("*.xml", "a/b.xml", false), ("*.xml", "a.XML", false), ("**/*.xml", "a.xml", true),
        ("**/*.xml", "a/b/c.xml", true), ("**/*.xml", "a.xmlx", false), ("a/**", "a/b/c", true),
        ("a/**", "b/a/c", false),
        ("a/**/b.xml", "a/b.xml", true), ("a/**/b.xml", "a/x/y/b.xml", true), ("a/**/b.xml", "a/xb.xml", false),
        ("?.xml", "é.xml", true), ("?.xml", "ab.xml", false), ("?/a", "//a", false), ("**", "a/b", true),
        ("*", "", true),
        ("a*b*c", "axxbyyc", true), ("a*b*c", "axxbyy", false), ("stops.txt", "stops.txt", true),
        ("**/a/*", "x/a/b", true), ("**/a/*", "xa/b", false),
    ])
    func names(pattern: String, name: String, matches: Bool) {
        #expect(MemberPattern(pattern).matches(name) == matches)
    }

    @Test(arguments: [
        ("*.xml", "a", false), ("**/*.xml", "a", true), ("a/*.xml", "a", true), ("a/*.xml", "b", false),
        ("a*/b/**", "ab", true), ("a*/b/**", "ab/c", false), ("a*/b/**", "ab/b/c", true), ("**", "a", true),
    ])
    func folders(pattern: String, folder: String, mayMatch: Bool) {
        #expect(MemberPattern(pattern).mayMatch(below: folder) == mayMatch)
    }

    @Test func noNameIsSlow() {
        let pattern = MemberPattern(String(repeating: "*a", count: 200) + "b")
        #expect(!pattern.matches(String(repeating: "a", count: 4096)))
    }
}
