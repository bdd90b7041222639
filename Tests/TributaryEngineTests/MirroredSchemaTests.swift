import FeedStore
import TestSupport
import Testing
@testable import TributaryEngine

/// `parser = "mirrored"`: documents whose elements are named as the store's tables and columns are.
@Suite struct MirroredSchemaTests {
    static let schema = """
        CREATE TABLE IF NOT EXISTS country (code TEXT PRIMARY KEY, name TEXT);
        CREATE TABLE IF NOT EXISTS publisher (
            id INTEGER PRIMARY KEY, name TEXT NOT NULL, founded_in INTEGER, country TEXT REFERENCES country(code));
        CREATE TABLE IF NOT EXISTS book (
            id INTEGER PRIMARY KEY, title TEXT, publisher_id INTEGER REFERENCES publisher(id), pageCount INTEGER,
            note TEXT DEFAULT 'local');
        CREATE TABLE IF NOT EXISTS chapter (
            id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES book(id), nr INTEGER, title TEXT);
        CREATE TABLE IF NOT EXISTS foot_note (
            id INTEGER PRIMARY KEY, chapter_id INTEGER REFERENCES chapter(id), mark TEXT, text TEXT);
        CREATE TABLE IF NOT EXISTS unrelated (id INTEGER PRIMARY KEY);
        INSERT OR IGNORE INTO unrelated VALUES (1);
        """

    static func document(mark: String = "a") -> String {
        """
        <library><publishers><publisher><books>
          <book><title>T1</title><page-count>100</page-count><chapters><chapter nr="1"><title>C1</title></chapter>
          <chapter nr="2"><title>C2</title><FootNote mark="\(mark)" text="x"/></chapter></chapters></book></books>
          <name>P1</name><foundedIn>1900</foundedIn><seat><country code="it"><name>Italy</name></country></seat></publisher>
          <publisher><name>P2</name><book><title>T2</title></book><junk><a/></junk></publisher>
        </publishers></library>
        """
    }

    @Test func fourLevelsAreRowsOfTheirTablesWithTheirForeignKeys() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.folder.write(Self.schema, to: "schema.sql")
            let source = "[[sources.s.requests]]\nurl = \"URL/feed\"\nparser = \"mirrored\"\nsync = \"mirror\"\n"
            fixture.server.document("/feed", Self.document())
            let first = try #require(try await fixture.sync(source, mode: .full).first)
            #expect(first.outcome == .committed && first.counts.inserted == 8 && first.skipped == 1, "\(first)")
            #expect(try fixture.rows("SELECT * FROM publisher") == ["1|P1|1900|it", "2|P2|NULL|NULL"])
            #expect(try fixture.rows("SELECT * FROM book") == ["1|T1|1|100|local", "2|T2|2|NULL|local"])
            #expect(try fixture.rows("SELECT * FROM chapter") == ["1|1|1|C1", "2|1|2|C2"])
            #expect(try fixture.rows("SELECT * FROM foot_note") == ["1|2|a|x"])
            let again = try #require(try await fixture.sync(source, mode: .full).first)
            #expect(
                again.counts.unchanged == 8 && again.counts.inserted + again.counts.updated + again.counts.deleted == 0)
            fixture.server.document("/feed", Self.document(mark: "b"))
            let changed = try #require(try await fixture.sync(source, mode: .full).first)
            #expect(changed.counts.inserted == 1 && changed.counts.deleted == 1 && changed.counts.unchanged == 7)
            #expect(try fixture.rows("SELECT chapter_id, mark FROM foot_note") == ["2|b"])
            // A table that the document does not speak of is left alone.
            #expect(try fixture.rows("SELECT * FROM unrelated") == ["1"])
        }
    }
}
