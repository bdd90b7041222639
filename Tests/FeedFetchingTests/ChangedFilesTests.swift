import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores
@testable import FeedFetching
@testable import TributaryEngine

/// The changed files of a folder, which are read without the others where that gives the same rows.
@Suite(.timeLimit(.minutes(5))) struct ChangedFilesTests {
    private static let rows = "SELECT sku, name, member FROM article ORDER BY sku"

    /// A folder of files, and the source that reads it.
    private struct Folder {
        let fixture: EngineFixture
        var header = ""
        var options = ""
        var tables = DocumentsTests.tables

        var sources: String {
            """
            [sources.s]
            \(header)
            [[sources.s.requests]]
            url = "file://\(fixture.folder.path)/data/*.xml"
            \(options)
            """ + tables
        }

        func path(_ name: String) -> String { fixture.folder.file("data/" + name) }

        /// Writes a file with an article for each name, by its number.
        func write(_ articles: [Int: String], to name: String) throws {
            try FileManager.default.createDirectory(
                atPath: fixture.folder.file("data"), withIntermediateDirectories: true)
            let elements = articles.sorted { $0.key < $1.key }.map { "<a sku='\($0.key)' name='\($0.value)'/>" }
            try Data("<l>\(elements.joined())</l>".utf8).write(to: URL(filePath: path(name)))
        }

        /// Expects that a run commits, and how many files it has read.
        ///
        /// - Parameter read: such as `1 of 2`; nil for all.
        func expectCommit(
            read: String?, mode: RefreshMode = .force, sourceLocation: SourceLocation = #_sourceLocation
        ) async throws {
            let report = try #require(await fixture.sync(sources, mode: mode).first)
            #expect(report.outcome == .committed, "\(report.error ?? "")", sourceLocation: sourceLocation)
            #expect(
                report.requests.first?.note == read.map { "read \($0) documents" }, sourceLocation: sourceLocation)
        }

        /// Takes back the last run with changes.
        func undo() async throws -> RunReport {
            let configuration = try fixture.configuration(sources)
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            defer { try? store.close() }
            return try await UndoRun(
                "s", to: .lastChange, in: store, declaration: configuration[source: "s"],
                parsers: EngineFixture.registry
            ).run()
        }

        func expectRows(_ rows: [String], sourceLocation: SourceLocation = #_sourceLocation) throws {
            #expect(try fixture.rows(ChangedFilesTests.rows) == rows, sourceLocation: sourceLocation)
        }

        func expectUnchanged(sourceLocation: SourceLocation = #_sourceLocation) async throws {
            let report = try #require(await fixture.sync(sources).first)
            #expect(report.outcome == .unchanged, "\(report)", sourceLocation: sourceLocation)
        }
    }

    @Test(.onEachStore) func oneChangedFileOfFiftyIsReadAlone() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(fixture: fixture)
            for number in 10..<60 { try folder.write([number: "n"], to: "\(number).xml") }
            try await folder.expectCommit(read: nil)
            try await folder.expectUnchanged()
            // What another program has changed shows which files are read.
            try fixture.store.execute("UPDATE article SET name = 'by hand' WHERE sku = 11")
            try folder.write([12: "changed"], to: "12.xml")
            let service = try fixture.service(folder.sources, clock: SystemClock())
            let source = try #require(try fixture.configuration(folder.sources)[source: "s"])
            let plan = try await service.plan(source) { _ in }
            try service.store.close()
            #expect(plan.notes == ["request '1': read 1 of 50 documents"])
            #expect(plan.counts.updated == 1 && plan.columns.isEmpty)
            try await folder.expectCommit(read: "1 of 50")
            try folder.write([60: "new"], to: "60.xml")
            try await folder.expectCommit(read: "1 of 51")
            let some = "SELECT sku, name FROM article WHERE name <> 'n' ORDER BY sku"
            #expect(try fixture.rows(some) == ["11|by hand", "12|changed", "60|new"])
            try await folder.expectCommit(read: nil, mode: .full)
            #expect(try fixture.rows(some) == ["12|changed", "60|new"])
            try folder.write([12: "once more"], to: "12.xml")
            try await folder.expectCommit(read: "1 of 51")
            #expect(try fixture.rows(some) == ["12|once more", "60|new"])
        }
    }

    /// Of two rows with one key, that of the last file counts, whichever has changed.
    @Test(.onEachStore) func aKeyInTwoFilesMakesARunReadAllFiles() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(fixture: fixture)
            try folder.write([1: "A"], to: "a.xml")
            try folder.write([2: "B"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            try folder.write([1: "changed", 2: "of a.xml"], to: "a.xml")
            try await folder.expectCommit(read: nil)
            try folder.expectRows(["1|changed|a.xml", "2|B|b.xml"])
            // The rows of the earlier file come back with a key that the later one has no more.
            try folder.write([3: "C"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            try folder.expectRows(["1|changed|a.xml", "2|of a.xml|a.xml", "3|C|b.xml"])
            try folder.write([3: "other"], to: "b.xml")
            try await folder.expectCommit(read: "1 of 2")
            try folder.expectRows(["1|changed|a.xml", "2|of a.xml|a.xml", "3|other|b.xml"])
            // A key may move from one changed file to another.
            try folder.write([4: "D"], to: "c.xml")
            try await folder.expectCommit(read: "1 of 3")
            try folder.write([1: "alone"], to: "a.xml")
            try folder.write([2: "moved", 3: "other"], to: "b.xml")
            try await folder.expectCommit(read: "2 of 3")
            try folder.expectRows(["1|alone|a.xml", "2|moved|b.xml", "3|other|b.xml", "4|D|c.xml"])
        }
    }

    @Test(.onEachStore) func aRowThatIsKnownStaysWhereRowsAreOnlyInserted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(fixture: fixture, options: "sync = \"insert\"")
            try folder.write([1: "A"], to: "a.xml")
            try folder.write([1: "B", 2: "B"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            try folder.write([1: "changed", 3: "new"], to: "a.xml")
            try await folder.expectCommit(read: "1 of 2")
            try folder.expectRows(["1|B|b.xml", "2|B|b.xml", "3|new|a.xml"])
        }
    }

    @Test(.onEachStore) func anAppendAddsTheRowsOfChangedFiles() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(
                fixture: fixture, options: "sync = \"append\"",
                tables: DocumentsTests.tables.replacing("key = [\"sku\"]\n", with: ""))
            try folder.write([1: "A"], to: "a.xml")
            try folder.write([2: "B"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            try folder.write([1: "again"], to: "a.xml")
            try await folder.expectCommit(read: "1 of 2")
            #expect(try fixture.rows("SELECT name FROM article").sorted() == ["A", "B", "again"])
        }
    }

    @Test(.onEachStore) func recordsWithinOthersAreReadWithThem() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let tables = """

                [[sources.s.requests.tables]]
                table = "purchase"
                element = "o"
                key = ["id"]
                columns = { id = "@id" }
                [[sources.s.requests.tables]]
                table = "line"
                element = "i"
                key = ["purchase", "no"]
                columns = { purchase = { parent = "purchase" }, no = { path = "@no", type = "integer" }, text = "@text" }
                """
            let folder = Folder(fixture: fixture, tables: tables)
            func write(_ id: String, _ text: String, to name: String) throws {
                try folder.write([:], to: name)
                try Data("<o id='\(id)'><i no='1' text='\(text)'/><i no='2' text='\(text)'/></o>".utf8).write(
                    to: URL(filePath: folder.path(name)))
            }
            func expectLines(_ rows: [String]) throws {
                #expect(try fixture.rows("SELECT purchase, no, text FROM line ORDER BY purchase, no") == rows)
            }
            try write("1", "A", to: "a.xml")
            try write("2", "B", to: "b.xml")
            try await folder.expectCommit(read: nil)
            try write("1", "changed", to: "a.xml")
            try await folder.expectCommit(read: "1 of 2")
            try expectLines(["1|1|changed", "1|2|changed", "2|1|B", "2|2|B"])
            try write("2", "moved", to: "a.xml")
            try await folder.expectCommit(read: nil)
            try expectLines(["1|1|changed", "1|2|changed", "2|1|B", "2|2|B"])
        }
    }

    /// What makes a run read all files.
    @Test(
        .onEachStore,
        arguments: [
            "sync = \"mirror\"\nmax_deleted = \"100%\"", "min_rows = 2", "max_changed = \"100%\"", "keep_bodies = 1",
            "drift = \"block\"", "expect = [{ sql = \"(SELECT count(*) FROM staged.article) = 2\" }]",
        ])
    func allFilesAreReadWhereTheRunNeedsAllRows(options: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(fixture: fixture, options: options)
            try folder.write([1: "A"], to: "a.xml")
            try folder.write([2: "B"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            try folder.write([1: "changed"], to: "a.xml")
            try await folder.expectCommit(read: nil)
            try folder.expectRows(["1|changed|a.xml", "2|B|b.xml"])
        }
    }

    @Test(.onEachStore) func allFilesAreReadForALaterForEach() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for number in 1...2 {
                fixture.server.document("/\(number)", "<l><b sku='\(number)' text='t'/></l>")
            }
            let details = """

                [[sources.s.requests]]
                url = "URL/${row:sku}"
                for_each = "SELECT sku FROM staged.article ORDER BY sku"
                tables = [{ table = "detail", element = "b", key = ["sku"], columns = { sku = "@sku", text = "@text" } }]
                """
            let folder = Folder(fixture: fixture, tables: DocumentsTests.tables + details)
            try folder.write([1: "A"], to: "a.xml")
            try folder.write([2: "B"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            try folder.write([1: "changed"], to: "a.xml")
            try await folder.expectCommit(read: nil)
            try folder.expectRows(["1|changed|a.xml", "2|B|b.xml"])
        }
    }

    @Test(.onEachStore) func anotherTypeOfKeyMakesARunReadAllFiles() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(
                fixture: fixture, tables: DocumentsTests.tables.replacing("\"integer\"", with: "\"real\""))
            try folder.write([1: "A"], to: "a.xml")
            try folder.write([2: "B"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            try folder.write([1: "changed"], to: "a.xml")
            try await folder.expectCommit(read: nil)
            #expect(try fixture.rows("SELECT name FROM article ORDER BY sku") == ["changed", "B"])
        }
    }

    @Test(.onEachStore) func aChangedDeclarationReadsAllFiles() async throws {
        try await EngineFixture.with { (fixture) async throws in
            var folder = Folder(fixture: fixture)
            try folder.write([1: "A"], to: "a.xml")
            try folder.write([2: "B"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            folder.tables = folder.tables.replacing("name = \"@name\"", with: "name = \"@sku\"")
            try folder.write([1: "changed"], to: "a.xml")
            try await folder.expectCommit(read: nil)
            try folder.expectRows(["1|1|a.xml", "2|2|b.xml"])
            try folder.write([3: "changed"], to: "a.xml")
            try await folder.expectCommit(read: "1 of 2")
            try folder.expectRows(["1|1|a.xml", "2|2|b.xml", "3|3|a.xml"])
        }
    }

    /// An undone source is committed again once its feed differs: then with the files that the undone run had read, too.
    @Test(.onEachStore) func afterAnUndoAllFilesAreRead() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(fixture: fixture, header: "keep_history = true")
            try folder.write([1: "A"], to: "a.xml")
            try folder.write([2: "B"], to: "b.xml")
            try folder.write([3: "C"], to: "c.xml")
            try await folder.expectCommit(read: nil)
            try folder.write([1: "changed"], to: "a.xml")
            try await folder.expectCommit(read: "1 of 3")
            #expect(try await folder.undo().outcome == .committed)
            try folder.expectRows(["1|A|a.xml", "2|B|b.xml", "3|C|c.xml"])
            try await folder.expectUnchanged()
            try folder.expectRows(["1|A|a.xml", "2|B|b.xml", "3|C|c.xml"])
            try folder.write([2: "new"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            try folder.expectRows(["1|changed|a.xml", "2|new|b.xml", "3|C|c.xml"])
            try folder.write([3: "new"], to: "c.xml")
            try await folder.expectCommit(read: "1 of 3")
            try folder.expectRows(["1|changed|a.xml", "2|new|b.xml", "3|new|c.xml"])
        }
    }

    @Test(.onEachStore) func rowsThatAreGoneAreReadAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(fixture: fixture)
            try folder.write([1: "A"], to: "a.xml")
            try folder.write([2: "B"], to: "b.xml")
            try await folder.expectCommit(read: nil)
            try fixture.store.execute("DELETE FROM article")
            try folder.write([1: "changed"], to: "a.xml")
            try await folder.expectCommit(read: nil)
            try folder.expectRows(["1|changed|a.xml", "2|B|b.xml"])
        }
    }

    @Test(.onEachStore) func removedRenamedAndReplacedFiles() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(fixture: fixture)
            let time = Date(timeIntervalSince1970: 1_790_000_000)
            func write(_ articles: [Int: String], to name: String) throws {
                try folder.write(articles, to: name)
                try FileManager.default.setAttributes([.modificationDate: time], ofItemAtPath: folder.path(name))
            }
            for (number, name) in ["a.xml", "b.xml", "c.xml"].enumerated() { try write([number: "n"], to: name) }
            try await folder.expectCommit(read: nil)
            try FileManager.default.removeItem(atPath: folder.path("c.xml"))
            try await folder.expectCommit(read: "0 of 2")
            try folder.expectRows(["0|n|a.xml", "1|n|b.xml", "2|n|c.xml"])
            try FileManager.default.moveItem(atPath: folder.path("a.xml"), toPath: folder.path("d.xml"))
            try await folder.expectCommit(read: "1 of 2")
            try folder.expectRows(["0|n|d.xml", "1|n|b.xml", "2|n|c.xml"])
            // A file of the same size and time is another one. The listing shows only that another file has changed, too.
            try write([1: "m"], to: "b.xml")
            try write([4: "new"], to: "e.xml")
            try await folder.expectCommit(read: "2 of 3")
            try folder.expectRows(["0|n|d.xml", "1|m|b.xml", "2|n|c.xml", "4|new|e.xml"])
        }
    }

    @Test(.enabled(if: !RemoteFileTests.kinds.isEmpty), arguments: RemoteFileTests.kinds)
    func theChangedFilesOfAServer(_ kind: FileServer.Kind) async throws {
        try await RemoteFixture.with(kind) { fixture in
            let sources = try fixture.sources("in/*.xml").replacing(
                "sync = \"mirror\"\nmax_deleted = \"100%\"\n", with: "")
            func expectCommit(read: String?, _ rows: [String]) async throws {
                let report = try await fixture.sync(sources)
                #expect(report.outcome == .committed, "\(report.error ?? "")")
                #expect(report.requests.first?.note == read.map { "read \($0) documents" })
                #expect(try fixture.engine.rows(RemoteFixture.rows) == rows)
            }
            for (number, name) in ["a", "b", "c"].enumerated() {
                try fixture.write(RemoteFixture.document(number, name), to: "in/\(name).xml")
            }
            try await expectCommit(read: nil, ["0|a|a.xml", "1|b|b.xml", "2|c|c.xml"])
            #expect(try await fixture.sync(sources).outcome == .unchanged)
            try fixture.write(RemoteFixture.document(1, "changed"), to: "in/b.xml", minutes: 59)
            try await expectCommit(read: "1 of 3", ["0|a|a.xml", "1|changed|b.xml", "2|c|c.xml"])
            try fixture.remove("in/c.xml")
            try await expectCommit(read: "0 of 2", ["0|a|a.xml", "1|changed|b.xml", "2|c|c.xml"])
            // A key of a file that is left out: all are read, over the same connection.
            try fixture.write(
                "<l><a sku='0' name='first'/><a sku='1' name='first'/></l>", to: "in/a.xml", minutes: 58)
            try await expectCommit(read: nil, ["0|first|a.xml", "1|changed|b.xml", "2|c|c.xml"])
        }
    }

    /// How many records may be left out because of errors is a question to all files.
    @Test func recordsThatAreLeftOutMakeARunReadAllFiles() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let tables = DocumentsTests.tables.replacing(
                "type = \"integer\" }", with: "type = \"integer\", on_error = \"skip\" }")
            let bad = "<l><a sku='x' name='bad'/></l>"
            var folder = Folder(fixture: fixture, tables: tables)
            for number in 10..<20 { try folder.write([number: "n"], to: "\(number).xml") }
            try await folder.expectCommit(read: nil)
            // The only record of the only changed file.
            try Data(bad.utf8).write(to: URL(filePath: folder.path("12.xml")))
            try await folder.expectCommit(read: nil)
            try folder.write([13: "changed"], to: "13.xml")
            try await folder.expectCommit(read: "1 of 10")
            folder.options = "max_skipped = 2"
            for name in ["14.xml", "15.xml"] {
                try Data(bad.utf8).write(to: URL(filePath: folder.path(name)))
                let report = try #require(await fixture.sync(folder.sources).first)
                #expect(report.outcome == (name == "14.xml" ? .committed : .discarded), "\(report)")
            }
        }
    }

    /// A source that reads what has changed has the rows of one that reads all files each time.
    @Test(.onEachStore, arguments: [UInt64(1), 2, 3]) func theRowsAreThoseOfRunsWithAllFiles(seed: UInt64) async throws
    {
        try await EngineFixture.with { (fixture) async throws in
            let folder = Folder(fixture: fixture, options: "allow_empty = true")
            let copy = folder.sources.replacing("sources.s", with: "sources.t").replacing(
                "\"article\"", with: "\"twin\"")
            let sources = folder.sources + "\n" + copy
            var random = SplitMix64(seed: seed)
            var notes: [String?] = []
            try folder.write([0: "first"], to: "a.xml")
            for step in 0..<30 {
                for _ in 0..<Int.random(in: 1...2, using: &random) {
                    let name = (["a", "b", "c", "d", "e", "f"].randomElement(using: &random) ?? "a") + ".xml"
                    var articles: [Int: String] = [:]
                    for _ in 0..<2 { articles[Int.random(in: 0..<60, using: &random)] = "v\(step)" }
                    if Int.random(in: 0..<5, using: &random) == 0,
                        FileManager.default.fileExists(atPath: folder.path(name))
                    {
                        try FileManager.default.removeItem(atPath: folder.path(name))
                    } else {
                        try folder.write(articles, to: name)
                    }
                }
                let report = try #require(await fixture.sync(sources, ["s"]).first)
                let other = try #require(await fixture.sync(sources, ["t"], mode: .full).first)
                #expect(report.error == nil && other.error == nil, "\(report) \(other)")
                notes.append(report.requests.first?.note)
                let expected = try fixture.rows(Self.rows.replacing("article", with: "twin"))
                #expect(try fixture.rows(Self.rows) == expected, "after step \(step)")
            }
            #expect(notes.contains { $0 != nil } && notes.dropFirst().contains(nil), "\(notes)")
        }
    }

    // MARK: - Limits

    @Test func moreKeysThanTheLimitAreNotKept() {
        var reading = ListingReading([1, 2])
        reading.note(Set(0..<UInt64(ListedDocuments.most)))
        reading.note([])
        let isWhole = reading.end()
        #expect(isWhole && reading.documents == nil && reading.note == nil)
    }

    @Test func aHundredThousandDocumentsAreKept() throws {
        let versions = (0..<100_000).map { UInt64($0) }
        var reading = ListingReading(versions)
        for version in versions { reading.note([version &* 3, version &* 3 + 1]) }
        let isWhole = reading.end()
        let documents = try #require(reading.documents)
        #expect(isWhole && documents.count == 400_000)
        var next = ListingReading(versions.dropLast() + [7_000_000], after: documents)
        #expect(next.positions == [99_999] && next.note == "read 1 of 100000 documents")
        next.note([0])
        let isEnough = next.end()
        #expect(!isEnough && next.documents == nil)
    }
}
