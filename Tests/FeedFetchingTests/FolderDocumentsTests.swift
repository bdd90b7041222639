import FeedConfiguration
import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import FeedFetching
@testable import TributaryEngine

/// Requests whose documents are the files of a folder.
@Suite struct FolderDocumentsTests {
    /// - Parameter place: what follows the folder's address.
    private static func sources(
        _ fixture: EngineFixture, _ place: String = "/*.xml", options: String = ""
    ) -> String {
        """
        [[sources.s.requests]]
        url = "file://\(fixture.folder.path)/data\(place)"
        sync = "mirror"
        max_deleted = "100%"
        \(options)
        """ + DocumentsTests.tables
    }

    private static func document(_ sku: Int, _ name: String) -> String { "<l><a sku='\(sku)' name='\(name)'/></l>" }

    private static func write(_ fixture: EngineFixture, _ bytes: [UInt8], to name: String) throws {
        let path = fixture.folder.file("data/" + name)
        try FileManager.default.createDirectory(
            atPath: (path as NSString).deletingLastPathComponent, withIntermediateDirectories: true)
        try Data(bytes).write(to: URL(filePath: path))
    }

    private static func write(_ fixture: EngineFixture, _ files: [String: String]) throws {
        for (name, text) in files { try write(fixture, Array(text.utf8), to: name) }
    }

    private func sync(_ fixture: EngineFixture, _ sources: String) async throws -> RunReport {
        try #require(await fixture.sync(sources).first)
    }

    @Test func theFilesThatMatchAreOneCommit() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let long = String(repeating: "long", count: 30)
            try Self.write(
                fixture,
                [
                    "b.xml": Self.document(2, "B"), "a.xml": Self.document(1, "A"), "a.txt": "not XML",
                    "\(long).xml": Self.document(3, "L"), "deep/er/c.xml": Self.document(4, "C"),
                    ".b.xml.x": "half of ", ".c.xml": "a file that is being written",
                ])
            try FileManager.default.createSymbolicLink(
                atPath: fixture.folder.file("data/link.xml"), withDestinationPath: "a.xml")
            try FileManager.default.createSymbolicLink(
                atPath: fixture.folder.file("data/loop"), withDestinationPath: "..")
            #expect(mkfifo(fixture.folder.file("data/fifo.xml"), 0o600) == 0)
            let report = try await sync(fixture, Self.sources(fixture))
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            let top = ["1|A|a.xml", "2|B|b.xml", "3|L|\(long).xml"]
            #expect(try fixture.rows(DocumentsTests.rows) == top)
            #expect(try await sync(fixture, Self.sources(fixture)).outcome == .unchanged)
            try FileManager.default.removeItem(atPath: fixture.folder.file("data/a.txt"))
            let addresses = [("/**/*.xml", ""), ("", "documents = \"**/*.xml\""), ("/", "documents = \"**\"")]
            for (place, documents) in addresses {
                let report = try await sync(fixture, Self.sources(fixture, place, options: documents))
                #expect(report.outcome == .committed, "\(place): \(String(describing: report.error))")
                #expect(try fixture.rows(DocumentsTests.rows) == top + ["4|C|deep/er/c.xml"])
                try await #expect(sync(fixture, Self.sources(fixture)).outcome == .committed)
            }
        }
    }

    /// Each request has its own files, and so its own archive.
    @Test func requestsMaySelectDifferentFilesOfOneFolder() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try Self.write(fixture, ["a.xml": Self.document(1, "A"), "b.xml": Self.document(2, "B")])
            let sources = ["a.xml", "b.xml"].map { name in
                """
                [[sources.s.requests]]
                url = "file://\(fixture.folder.path)/data"
                documents = "\(name)"
                """ + DocumentsTests.tables
            }
            let report = try await sync(fixture, sources.joined(separator: "\n"))
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(try fixture.rows(DocumentsTests.rows) == ["1|A|a.xml", "2|B|b.xml"])
        }
    }

    @Test func everyFileIsParsedWhenOneChanged() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try Self.write(fixture, ["a.xml": Self.document(1, "A"), "b.xml": Self.document(2, "B")])
            #expect(try await sync(fixture, Self.sources(fixture)).outcome == .committed)
            try Self.write(fixture, ["b.xml": Self.document(2, "other"), "c.xml": Self.document(3, "C")])
            #expect(try await sync(fixture, Self.sources(fixture)).outcome == .committed)
            #expect(try fixture.rows(DocumentsTests.rows) == ["1|A|a.xml", "2|other|b.xml", "3|C|c.xml"])
            try FileManager.default.removeItem(atPath: fixture.folder.file("data/a.xml"))
            #expect(try await sync(fixture, Self.sources(fixture)).outcome == .committed)
            #expect(try fixture.rows(DocumentsTests.rows) == ["2|other|b.xml", "3|C|c.xml"])
            try Self.write(fixture, ["c.xml": "<l><a sku='4'>"])
            let report = try await sync(fixture, Self.sources(fixture))
            #expect(report.error?.contains("document 'c.xml'") == true, "\(report)")
            #expect(try fixture.rows(DocumentsTests.rows) == ["2|other|b.xml", "3|C|c.xml"])
        }
    }

    @Test func filesMayBeCompressed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let text = Self.document(1, "one")
            for compression in Tar.Compression.allCases {
                try Self.write(fixture, Tar.compressed(text, compression), to: "a.xml")
                let report = try await sync(fixture, Self.sources(fixture))
                #expect(report.outcome == .committed, "\(compression): \(String(describing: report.error))")
                #expect(try fixture.rows(DocumentsTests.rows) == ["1|one|a.xml"], "\(compression)")
                try Self.write(fixture, Self.document(9, "x").utf8.map { $0 }, to: "a.xml")
                #expect(try await sync(fixture, Self.sources(fixture)).outcome == .committed)
            }
            try Self.write(
                fixture, Zip.archive([Zip.File(name: "report.xml", content: text)]), to: "a.xml")
            #expect(try await sync(fixture, Self.sources(fixture)).outcome == .committed)
            #expect(try fixture.rows(DocumentsTests.rows) == ["1|one|a.xml"])
            for compression in [Tar.Compression.gzip, .bzip2, .xz, .zstd] {
                try Self.write(fixture, Tar.compressed(text, compression).dropLast(9), to: "a.xml")
                let report = try await sync(fixture, Self.sources(fixture))
                #expect(report.error?.contains("document 'a.xml'") == true, "\(compression): \(report)")
            }
            // Blank, so that it is small in the folder.
            let blank = "<l>" + String(repeating: " ", count: 1 << 20) + "</l>"
            for number in 0..<4 { try Self.write(fixture, Tar.compressed(blank, .bzip2), to: "\(number).xml") }
            try Self.write(fixture, ["a.xml": text])
            let limited = Self.sources(fixture, options: "max_body = \"2MiB\"")
            #expect(try await sync(fixture, limited).error?.contains("larger than max_body, 2 MiB") == true)
        }
    }

    @Test func namesThatAreNotUTF8StayUnlikeEachOther() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try Self.write(fixture, ["b.xml": Self.document(1, "A")])
            let folder = Array(fixture.folder.file("data/").utf8)
            for (sku, byte) in [(2, UInt8(0x81)), (3, 0x84)] {
                let path = folder + [byte] + Array("B.xml".utf8) + [0]
                let descriptor = path.withUnsafeBytes {
                    open($0.assumingMemoryBound(to: CChar.self).baseAddress!, O_CREAT | O_WRONLY, 0o600)
                }
                try #require(descriptor >= 0)
                try FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
                    .write(contentsOf: Data(Self.document(sku, "N").utf8))
            }
            #expect(try await sync(fixture, Self.sources(fixture)).outcome == .committed)
            #expect(try fixture.rows(DocumentsTests.rows) == ["1|A|b.xml", "2|N|%81B.xml", "3|N|%84B.xml"])
        }
    }

    @Test func eachRequestOfAFolderReadsItsOwnFiles() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let requests = ["a", "b"].map { name in
                """
                [[sources.s.requests]]
                url = "file://\(fixture.folder.path)/data"
                documents = "\(name)*.xml"
                tables = [{ table = "\(name)", element = "a", key = ["sku"], columns = { sku = "@sku", name = "@name" } }]

                """
            }
            func expectRows(_ rows: [String: String]) async throws {
                let report = try await sync(fixture, requests.joined())
                #expect(report.outcome == .committed, "\(String(describing: report.error))")
                for (table, row) in rows { #expect(try fixture.rows("SELECT sku, name FROM \(table)") == [row]) }
            }
            try Self.write(fixture, ["a.xml": Self.document(1, "A"), "b.xml": Self.document(2, "B")])
            try await expectRows(["a": "1|A", "b": "2|B"])
            try Self.write(fixture, ["b.xml": Self.document(2, "changed")])
            try await expectRows(["a": "1|A", "b": "2|changed"])
        }
    }

    @Test func aReplayHasTheFilesThatWereThere() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try Self.write(fixture, ["a.xml": Self.document(1, "A"), "b.xml": Self.document(2, "B")])
            let sources = Self.sources(fixture, options: "keep_bodies = 1")
            #expect(try await sync(fixture, sources).outcome == .committed)
            try Self.write(fixture, ["a.xml": "not any more"])
            let renamed = sources.replacingOccurrences(of: "name = \"@name\"", with: "name = \"@sku\"")
            let report = try await fixture.replay(renamed)
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(try fixture.rows(DocumentsTests.rows) == ["1|1|a.xml", "2|2|b.xml"])
        }
    }

    @Test func whereNothingMatches() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try Self.write(fixture, ["a.xml": Self.document(1, "A"), "b.csv": "x"])
            #expect(try await sync(fixture, Self.sources(fixture)).outcome == .committed)
            let none = Self.sources(fixture, "/*.json")
            let message = "no file of the folder matches '*.json'; it holds 'a.xml', 'b.csv'; set allow_empty = true"
            #expect(try await sync(fixture, none).error?.contains(message) == true)
            let missing = try await sync(fixture, Self.sources(fixture, "/none/*.xml"))
            #expect(missing.error?.contains("/data/none cannot be read: No such file or directory") == true)
            let folder = try await sync(fixture, Self.sources(fixture, ""))
            #expect(folder.error?.contains("but a folder; for the files in it, declare documents") == true)
            #expect(try fixture.rows(DocumentsTests.rows) == ["1|A|a.xml"])
            let allowed = Self.sources(fixture, "/*.json", options: "allow_empty = true")
            #expect(try await sync(fixture, allowed).outcome == .committed)
            #expect(try fixture.rows(DocumentsTests.rows).isEmpty)
        }
    }

    @Test func aFileThatChangesMeanwhileDiscardsTheRun() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(fixture, "/*.csv")
            let request = try #require(try fixture.configuration(sources)[source: "s"]?.requests.first)
            func change(_ body: (String) throws -> Void) async throws {
                // More than the reader is ahead: the file is still being read when it changes.
                let text = String(repeating: "a", count: 2_000_000)
                try Self.write(fixture, ["a.csv": text, "b.csv": text])
                let exchange = try await FileFetcher { Date() }
                    .fetch(request, ExchangeContext(), validators: Validators(), movedTo: nil)
                var isChanged = false
                let error = await #expect(throws: FetchError.self) {
                    try await exchange.forEachPiece { piece in
                        guard !isChanged, piece.count > 512 else { return }
                        isChanged = true
                        try body(fixture.folder.file("data/"))
                    }
                }
                #expect(error?.description.contains("changed while the folder was read") == true, "\(error as Any)")
            }
            try await change { #expect(truncate($0 + "a.csv", 10) == 0) }
            try await change { #expect(truncate($0 + "a.csv", 2_100_000) == 0) }
            try await change { #expect(truncate($0 + "b.csv", 2_100_000) == 0) }
            try await change { try FileManager.default.removeItem(atPath: $0 + "b.csv") }
            try await change { #expect(rename($0 + "a.csv", $0 + "b.csv") == 0) }
        }
    }

    @Test func foldersWithinEachOtherMeetALimit() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let deep = (0...100).map { _ in "d" }.joined(separator: "/")
            try Self.write(fixture, [deep + "/a.xml": Self.document(1, "A")])
            let report = try await sync(fixture, Self.sources(fixture, "/**/*.xml"))
            #expect(report.error?.contains("more than 100 folders are within each other") == true, "\(report)")
        }
    }

    @Test func mistakesAreNamed() async throws {
        let mistakes = [
            ("file:///data/*.xml", "documents = \"*\"", "documents: 'url' already has a pattern"),
            ("file:///data/*.xml", "page = { link = true }", "url: a request of several documents cannot have 'page'"),
            ("file:///data/", "", "url: names a folder; add documents"),
            ("file://data/*.xml", "", "it names another host; write file:///PATH"),
            ("https://*/data.xml", "", "its host is neither a name nor an address"),
        ]
        for (url, options, message) in mistakes {
            try await EngineFixture.expectMistake(
                "[[sources.s.requests]]\nurl = \"\(url)\"\nparser = \"ItemsParser\"\n\(options)\n", message)
        }
    }
}
