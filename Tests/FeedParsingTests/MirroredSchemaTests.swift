import FeedConfiguration
import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import FeedParsing
@testable import TributaryEngine

/// `parser = "mirrored"`: documents whose elements are named as the store's tables and columns are.
@Suite(.onEachStore) struct MirroredSchemaTests {
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
        INSERT INTO unrelated VALUES (1) ON CONFLICT DO NOTHING;
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

    /// A column that refers to a table that is made later; PostgreSQL takes it only after that.
    private static func forward(_ table: String, _ column: String) -> (inside: String, after: String) {
        StoreKind.by(
            sqlite: (", " + column, ""),
            postgres: ("", "ALTER TABLE \(table) ADD COLUMN IF NOT EXISTS \(column);"))
    }

    /// Plans of tables that refer to one another, and to themselves, go with their document.
    @Test func nothingStaysInMemory() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let b = Self.forward("a", "b TEXT REFERENCES b")
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS a (id TEXT PRIMARY KEY, a TEXT REFERENCES a\(b.inside));
                    CREATE TABLE IF NOT EXISTS b (id TEXT PRIMARY KEY, a TEXT REFERENCES a);
                    \(b.after)
                    """)
            let service = try fixture.service(
                "[[sources.s.requests]]\nurl = \"URL/a\"\nparser = \"mirrored\"", clock: fixture.clock)
            let request = try #require(
                try fixture.configuration(
                    "[[sources.s.requests]]\nurl = \"URL/a\"\nparser = \"mirrored\""
                ).sources.first?.requests.first)
            let context = service.store.makeWorkerContext(source: "s")
            context.beginRequest(0, rule: MergeRule())
            weak var layout: RecordLayout?
            do {
                let layouts = try MirroredCompiler(request: request, context: context).layouts()
                layout = layouts.first { !$0.relations.isEmpty }
                #expect(layout != nil)
                _ = MappingHandler(layouts, context: context, root: nil)
            }
            #expect(layout == nil)
            context.remove()
            try service.store.close()
        }
    }

    @Test func fourLevelsAreRowsOfTheirTablesWithTheirForeignKeys() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: Self.schema)
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

    // MARK: - Tables that refer to themselves, and to each other

    private static let mirror = """
        [[sources.s.requests]]
        url = "URL/feed"
        parser = "mirrored"
        sync = "mirror"
        """

    /// Each category with its parent's name.
    private static let tree = """
        SELECT c.name, p.name FROM category c LEFT JOIN category p ON p.id = c.parent_id ORDER BY c.name, p.name
        """

    /// What identifies a category: the feed's key, or a name of which each is unique.
    @Test(arguments: ["id INTEGER PRIMARY KEY, name TEXT UNIQUE", "id TEXT PRIMARY KEY, name TEXT"])
    func aTreeOfOneTableHasItsParents(columns: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let type = columns.contains("TEXT PRIMARY") ? "TEXT" : "INTEGER"
            try fixture.write(
                schema: "CREATE TABLE IF NOT EXISTS category (\(columns), parent_id \(type) REFERENCES category(id));")
            func category(_ name: String, _ inner: String = "") -> String {
                let key = columns.contains("TEXT PRIMARY") ? " id='\(name)'" : ""
                return "<category\(key)><name>\(name)</name><children>\(inner)</children></category>"
            }
            func serve(_ document: String) { fixture.server.document("/feed", "<f>\(document)</f>") }
            let deep = category("c", category("d", category("e")))
            serve(category("a", category("b", deep + category("f"))) + category("g"))
            let first = try #require(try await fixture.sync(Self.mirror).first)
            #expect(first.counts.inserted == 7, "\(first)")
            let whole = ["a|NULL", "b|a", "c|b", "d|c", "e|d", "f|b", "g|NULL"]
            #expect(try fixture.rows(Self.tree) == whole)
            let again = try #require(try await fixture.sync(Self.mirror, mode: .full).first)
            #expect(again.counts.unchanged == 7 && again.counts.inserted + again.counts.updated == 0, "\(again)")
            // A subtree moves, with whatever is in it; another goes.
            serve(category("a", category("b", category("f"))) + category("g", category("c", category("d"))))
            let moved = try #require(try await fixture.sync(Self.mirror).first)
            #expect(moved.outcome == .committed, "\(moved)")
            #expect(try fixture.rows(Self.tree) == ["a|NULL", "b|a", "c|g", "d|c", "f|b", "g|NULL"])
        }
    }

    /// Nothing identifies a category but its place among the others.
    @Test func aTreeWithoutAKeyIsRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS category (
                        id INTEGER PRIMARY KEY, name TEXT, parent_id INTEGER REFERENCES category(id));
                    """)
            fixture.server.document("/feed", "<f><category name='a'/><category name='b'/></f>")
            let flat = try #require(try await fixture.sync(Self.mirror).first)
            #expect(flat.counts.inserted == 2, "\(flat)")
            fixture.server.document("/feed", "<f><category name='a'><category name='b'/></category></f>")
            let report = try #require(try await fixture.sync(Self.mirror).first)
            let expected = """
                table 'category': its rows refer to each other, and without the column 'parent_id' nothing distinguishes its \
                rows; give the table a unique key that the feed has
                """
            #expect(report.outcome == .discarded && report.error?.contains(expected) == true, "\(report)")
            #expect(try fixture.rows(Self.tree) == ["a|NULL", "b|NULL"])
        }
    }

    @Test func tablesThatReferToEachOtherAreFilled() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let head = Self.forward("department", "head_id INTEGER REFERENCES person(id)")
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS department (id INTEGER PRIMARY KEY, name TEXT UNIQUE\(head.inside));
                    CREATE TABLE IF NOT EXISTS person (
                        id INTEGER PRIMARY KEY, name TEXT UNIQUE, department_id INTEGER REFERENCES department(id));
                    \(head.after)
                    """)
            fixture.server.document(
                "/feed",
                "<f><department name='D'><person name='A'/><person name='B'/></department><department name='E'/></f>")
            for _ in 0..<2 {
                let report = try #require(try await fixture.sync(Self.mirror, mode: .full).first)
                #expect(report.outcome == .committed, "\(report)")
                #expect(
                    try fixture.rows(
                        "SELECT d.name, p.name FROM department d LEFT JOIN person p ON p.id = d.head_id ORDER BY d.name"
                    )
                        == ["D|A", "E|NULL"])
                #expect(
                    try fixture.rows(
                        "SELECT p.name, d.name FROM person p JOIN department d ON d.id = department_id ORDER BY p.name")
                        == ["A|D", "B|D"])
            }
        }
    }

    /// Without anything else that identifies them, neither can be looked for before the other.
    @Test func aCircleThatCannotBeDecidedIsAnError() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let b = Self.forward("a", "b_id INTEGER REFERENCES b(id)")
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS a (id INTEGER PRIMARY KEY, name TEXT\(b.inside));
                    CREATE TABLE IF NOT EXISTS b (id INTEGER PRIMARY KEY, name TEXT, a_id INTEGER REFERENCES a(id));
                    \(b.after)
                    """)
            fixture.server.document("/feed", "<f><a name='x'><b name='y'/></a></f>")
            let report = try #require(try await fixture.sync(Self.mirror).first)
            #expect(report.outcome == .discarded && report.error?.contains("refer to each other") == true, "\(report)")
        }
    }
}
