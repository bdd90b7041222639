import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Keys that change with columns that the table lacks, or that rows of other tables refer to.
@Suite(.onEachStore) struct MigratedKeyTests {
    private static let document = "<f><o id='1'><l id='7'/><l id='8'/></o><o id='2'><l id='9'/></o></f>"

    private static func source(_ lines: String, order: String? = nil, _ options: String = "") -> String {
        let order = order ?? "key = [\"id\"]\ncolumns = { id = \"@id\" }"
        return """
            [sources.s]
            \(options)
            [[sources.s.requests]]
            url = "URL/a"
            sync = "mirror"
            [[sources.s.requests.tables]]
            table = "o"
            element = "o"
            \(order)
            [[sources.s.requests.tables]]
            table = "l"
            element = "l"
            \(lines)

            """
    }

    private func migrate(_ fixture: EngineFixture, _ sources: String) throws -> [TableMigration] {
        let configuration = try fixture.configuration(sources)
        let store = try #require(try configuration.openExistingStore(isWritten: true))
        defer { try? store.close() }
        let source = try #require(configuration[source: "s"])
        let done = try source.migrate(store, in: configuration, parsers: EngineFixture.registry, at: Date())
        #expect(try store.migrations(to: source.schemas).isEmpty)
        #expect(try store.differences(from: source.schemas).isEmpty)
        return done
    }

    private func sync(_ fixture: EngineFixture, _ sources: String) async throws -> RunReport {
        try #require(try await fixture.sync(sources, mode: .full).first)
    }

    @Test(arguments: ["", "keep_history = true"])
    func aKeyWithANewColumn(options: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.document)
            let old = Self.source(
                "key = [\"id\"]\ncolumns = { id = \"@id\", o = { parent = \"o\" } }", options)
            #expect(try await sync(fixture, old).counts.inserted == 5)
            let new = Self.source(
                "key = [\"o\", \"n\"]\ncolumns = { o = { parent = \"o\" }, n = { ordinal = true } }", options)
            let before = try fixture.dump()
            let refused = try await sync(fixture, new)
            #expect(refused.error?.contains("which no unique index covers") == true, "\(refused.error ?? "")")
            #expect(try fixture.dump() == before)
            let done = try migrate(fixture, new)
            #expect(done.map(\.added) == [["n"]])
            // The new column is NULL in rows from before, and a history on PostgreSQL needs a key that is NOT NULL.
            let number = StoreKind.current == .postgres && !options.isEmpty ? "l_id" : nil
            #expect(done.map(\.number) == [number])
            let report = try await sync(fixture, new)
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT o, n FROM l ORDER BY o, n") == ["1|1", "1|2", "2|1"])
            #expect(try await sync(fixture, new).counts.unchanged == 5)
        }
    }

    /// No mirror of the scope finds rows without its value.
    @Test func aKeyWithTheColumnOfAScope() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.document)
            let lines = "key = [\"id\"]\ncolumns = { id = \"@id\", o = { parent = \"o\" } }"
            #expect(try await sync(fixture, Self.source(lines)).counts.inserted == 5)
            let new = Self.source(lines.replacing("[\"id\"]", with: "[\"shop\", \"id\"]"))
                .replacing("sync = \"mirror\"", with: "sync = \"mirror\"\nscope = { shop = \"n\" }")
            // Its key stays as it is, so that its operator adds the column of the scope.
            try fixture.store.execute("ALTER TABLE o ADD COLUMN shop text")
            let done = try migrate(fixture, new)
            try #require(done.map(\.scope) == [["shop"]])
            #expect(done[0].changes[0].contains("no mirror of a scope deletes them"), "\(done)")
        }
    }

    /// The columns of the former key have no value any more.
    @Test func aKeyWhoseColumnsAreNoLongerMapped() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.document)
            let order = "key = [\"id\", \"n\"]\ncolumns = { id = \"@id\", n = { ordinal = true } }"
            let old = Self.source(
                "key = [\"id\", \"m\"]\ncolumns = { id = \"../@id\", m = { ordinal = true } }", order: order)
            #expect(try await sync(fixture, old).counts.inserted == 5)
            let new = Self.source(
                "key = [\"o\", \"m\"]\ncolumns = { o = { parent = \"o\" }, m = { ordinal = true } }", order: order)
            #expect(try await sync(fixture, new).outcome == .discarded)
            _ = try migrate(fixture, new)
            let report = try await sync(fixture, new)
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try fixture.rows("SELECT count(*), count(o), count(id) FROM l") == ["3|3|0"])
        }
    }

    /// The order in which a declaration grows does not decide whether it works.
    @Test func aChildOfATableWithAKeyOfTwoColumns() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<f><o a='1' b='1'><l id='7'/></o><o a='1' b='2'/></f>")
            let order = "key = [\"a\", \"b\"]\ncolumns = { a = \"@a\", b = \"@b\" }"
            let whole = Self.source("key = [\"id\"]\ncolumns = { id = \"@id\", o = { parent = \"o\" } }", order: order)
            let alone = whole.components(separatedBy: "[[sources.s.requests.tables]]\ntable = \"l\"")[0]
            #expect(try await sync(fixture, alone).counts.inserted == 2)
            let refused = try await sync(fixture, whole)
            #expect(refused.error?.contains("whose primary key is (a, b), and holds one value") == true, "\(refused)")
            #expect(refused.error?.contains("`tributary migrate s`") == true)
            // Nothing was made, so that the former declaration still works.
            fixture.server.document("/a", "<f><o a='1' b='1'><l id='7'/></o></f>")
            #expect(try await sync(fixture, alone).counts.deleted == 1)
            #expect(try migrate(fixture, whole).map(\.number) == ["id"])
            let report = try await sync(fixture, whole)
            #expect(
                report.outcome == .committed && report.counts == MergeCounts(inserted: 1, unchanged: 1), "\(report)")
            #expect(try fixture.rows("SELECT l.id, a, b FROM l JOIN o ON o.id = l.o") == ["7|1|1"])
            fixture.server.document("/a", "<f><o a='1' b='3'><l id='7'/></o></f>")
            #expect(try await sync(fixture, whole).counts.deleted == 1)
        }
    }

    @Test func aKeyThatOtherRowsHoldStays() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.document)
            let lines = "key = [\"id\"]\ncolumns = { id = \"@id\", o = { parent = \"o\" } }"
            #expect(try await sync(fixture, Self.source(lines)).counts.inserted == 5)
            let new = Self.source(lines, order: "key = [\"id\", \"b\"]\ncolumns = { id = \"@id\", b = \"@b\" }")
            let configuration = try fixture.configuration(new)
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            defer { try? store.close() }
            let source = try #require(configuration[source: "s"])
            for change in [
                { _ = try store.migrations(to: source.schemas) },
                { _ = try source.migrate(store, in: configuration, parsers: EngineFixture.registry, at: Date()) },
            ] {
                #expect {
                    try change()
                } throws: { error in
                    "\(error)".contains(
                        "table 'o' cannot get another primary key than (id): table 'l' refers to it by (o)")
                }
            }
        }
    }

    @Test func textsOfAColumnThatIsToBeEncrypted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.document)
            let lines = "key = [\"id\"]\ncolumns = { id = \"@id\", o = { parent = \"o\" }, v = \"@id\" }"
            #expect(try await sync(fixture, Self.source(lines)).counts.inserted == 5)
            let configuration = try fixture.configuration(Self.source(lines))
            let store = try #require(try configuration.openExistingStore(isWritten: true))
            defer { try? store.close() }
            let schema = TableSchema(
                name: "l", columns: [.init(name: "v", type: "BLOB")], key: [], place: KeyPlace(path: "f"))
            #expect(try store.migrate(to: [schema]).map(\.table) == ["l"])
            #expect(try store.migrations(to: [schema]).isEmpty)
        }
    }

    @Test func aReferenceToNothingIsNotMade() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.document)
            let lines = { (more: String) in
                "key = [\"id\"]\ncolumns = { id = \"@id\", o = { parent = \"o\" }\(more) }"
            }
            #expect(try await sync(fixture, Self.source(lines(""))).counts.inserted == 5)
            let firm = ", firm = { path = \"@firm\", references = \"firm(name)\", missing = \"create\" }"
            let refused = try await sync(fixture, Self.source(lines(firm)))
            #expect(refused.error?.contains("there is no table 'firm'") == true, "\(refused.error ?? "")")
            fixture.server.document("/a", "<f><o id='1'><l id='6'/></o></f>")
            #expect(try await sync(fixture, Self.source(lines(""))).outcome == .committed)
            #expect(try fixture.rows("SELECT * FROM l") == ["6|1"])
        }
    }

    /// Tables and columns of a run that commits nothing go with it, and come with one that does.
    @Test func aDiscardedRunLeavesNoTable() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let lines = { (more: String) in
                "key = [\"id\"]\ncolumns = { id = \"@id\", o = { parent = \"o\" }\(more) }"
            }
            let bad = Self.document.replacing("</f>", with: "<o id='3'><l")
            fixture.server.document("/a", bad)
            #expect(try await sync(fixture, Self.source(lines(""))).outcome == .discarded)
            #expect(throws: (any Error).self) { try fixture.rows("SELECT * FROM l") }
            #expect(throws: (any Error).self) { try fixture.rows("SELECT * FROM o") }
            fixture.server.document("/a", Self.document)
            #expect(try await sync(fixture, Self.source(lines(""))).counts.inserted == 5)
            let more = Self.source(lines(", v = { path = \"@id\", type = \"integer\" }"))
            fixture.server.document("/a", bad)
            #expect(try await sync(fixture, more).outcome == .discarded)
            #expect(throws: (any Error).self) { try fixture.rows("SELECT v FROM l") }
            fixture.server.document("/a", Self.document)
            #expect(try await sync(fixture, more).counts.updated == 3)
            #expect(try fixture.rows("SELECT v FROM l ORDER BY v") == ["7", "8", "9"])
        }
    }

    /// A store of an earlier build may have such a table, or such a column.
    @Test func whatIsInTheWayIsNamed() async throws {
        guard StoreKind.current == .sqlite else { return }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<f><o a='1' b='1'/><o a='1' b='2'/></f>")
            let order = "key = [\"a\", \"b\"]\ncolumns = { a = \"@a\", b = \"@b\" }"
            let alone = Self.source("", order: order).components(
                separatedBy: "[[sources.s.requests.tables]]\ntable = \"l\"")[0]
            #expect(try await sync(fixture, alone).counts.inserted == 2)
            try fixture.store.execute("CREATE TABLE c (p TEXT NOT NULL REFERENCES o, v TEXT)")
            fixture.server.document("/a", "<f><o a='1' b='1'/></f>")
            let mismatch = try await sync(fixture, alone)
            #expect(mismatch.error?.contains("foreign key (p) of table 'c'") == true, "\(mismatch.error ?? "")")
            #expect(mismatch.error?.contains("run DROP TABLE \"c\"") == true)
            try fixture.store.execute("DROP TABLE c; ALTER TABLE o ADD COLUMN firm TEXT REFERENCES firm")
            fixture.server.document("/a", "<f><o a='1' b='3'/></f>")
            let missing = try await sync(fixture, alone)
            #expect(
                missing.error?.contains("run ALTER TABLE \"o\" DROP COLUMN \"firm\"") == true, "\(missing.error ?? "")")
            try fixture.store.execute("ALTER TABLE o DROP COLUMN firm")
            #expect(try await sync(fixture, alone).outcome == .committed)
        }
    }
}
