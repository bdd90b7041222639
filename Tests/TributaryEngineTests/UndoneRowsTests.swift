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

/// What an undo makes of single rows: their keys, their places, their marks, and the changelog of it.
@Suite(.onEachStore) struct UndoneRowsTests {
    private static func mapping(_ options: String = "", columns: String = "id = \"@id\", name = \"@name\"") -> String {
        """
        [sources.s]
        keep_history = true
        [[sources.s.requests]]
        url = "URL/a"
        sync = "mirror"
        max_deleted = "100%"
        allow_empty = true
        [[sources.s.requests.tables]]
        table = "thing"
        element = "item"
        columns = { \(columns) }
        \(options)

        """
    }

    private static let keyed = mapping("key = [\"id\"]")

    private func sync(_ fixture: EngineFixture, _ sources: String, _ items: [(String, String)]) async throws {
        let rows = items.map { "<item id='\($0.0)' name='\($0.1)'/>" }.joined()
        fixture.server.document("/a", "<items>\(rows)</items>")
        let report = try await fixture.sync(sources, clock: fixture.clock).first
        #expect(report?.outcome == .committed && report?.error == nil, "\(report?.error ?? "")")
        fixture.clock.advance(by: 60)
    }

    private func withStore<Value>(
        _ fixture: EngineFixture, _ sources: String,
        _ body: (any MainStore, TributaryConfiguration) async throws -> Value
    ) async throws -> Value {
        let configuration = try fixture.configuration(sources)
        let store = try #require(try configuration.openExistingStore(isWritten: true))
        defer { try? store.close() }
        return try await body(store, configuration)
    }

    @discardableResult
    private func undo(_ fixture: EngineFixture, _ sources: String, to run: Int64) async throws -> RunReport {
        try await withStore(fixture, sources) { store, configuration in
            try await UndoRun(
                "s", to: .run(run), in: store, declaration: configuration[source: "s"], parsers: EngineFixture.registry
            )
            .run()
        }
    }

    /// Returns the differences of the rows that an undo would update.
    private func plan(_ fixture: EngineFixture, _ sources: String, to run: Int64) async throws -> [String] {
        try await withStore(fixture, sources) { store, configuration in
            let lines = Mutex<[String]>([])
            _ = try await UndoRun(
                "s", to: .run(run), in: store, declaration: configuration[source: "s"], parsers: EngineFixture.registry
            ).plan { change in
                guard case .update(let old) = change.operation else { return }
                lines.withLock { $0.append(PlanReport.changes(old, change.row)) }
            }
            return lines.withLock { $0 }
        }
    }

    private func changes(_ fixture: EngineFixture, run: Int64) throws -> [String] {
        try fixture.rows("SELECT key, operation FROM tributary_change WHERE run = \(run) ORDER BY key, operation")
    }

    /// A key that was deleted, and came back in another spelling that compares equal.
    @Test(arguments: ["", " WITHOUT ROWID"])
    func aKeyInAnotherSpelling(_ option: String) async throws {
        if StoreKind.current == .postgres, !option.isEmpty { return }
        try await EngineFixture.with { (fixture) async throws in
            let type = StoreKind.by(sqlite: "TEXT COLLATE NOCASE", postgres: "numeric")
            let (first, second) = StoreKind.by(sqlite: ("X", "x"), postgres: ("1.0", "1.00"))
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS thing (id \(type) PRIMARY KEY NOT NULL, name TEXT)\(option);
                    CREATE TABLE IF NOT EXISTS note (thing \(type) REFERENCES thing ON DELETE CASCADE);
                    """)
            let keys = { try fixture.rows("SELECT CAST(id AS text) || '=' || name FROM thing") }
            try await sync(fixture, Self.keyed, [(first, "1")])
            try await sync(fixture, Self.keyed, [])
            try await sync(fixture, Self.keyed, [(second, "1")])
            #expect(try keys() == ["\(second)=1"])
            try fixture.store.execute("INSERT INTO note VALUES ('\(second)')")
            // The change is the spelling's.
            #expect(try await plan(fixture, Self.keyed, to: 1) == ["id \"\(second)\" → \"\(first)\""])
            for _ in 0..<2 {
                try await undo(fixture, Self.keyed, to: 1)
                #expect(try keys() == ["\(first)=1"])
                try await undo(fixture, Self.keyed, to: 3)
                #expect(try keys() == ["\(second)=1"])
            }
            // What refers to the row does so still.
            #expect(try fixture.rows("SELECT count(*) FROM note JOIN thing ON thing.id = note.thing") == ["1"])
            try fixture.store.execute("DELETE FROM note")
            try await undo(fixture, Self.keyed, to: 2)
            #expect(try keys().isEmpty)
        }
    }

    /// Values that were deleted, and came back in another spelling that compares equal.
    @Test func valuesInAnotherSpelling() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let type = StoreKind.by(sqlite: "", postgres: "numeric")
            try fixture.write(
                schema: "CREATE TABLE IF NOT EXISTS thing (id TEXT PRIMARY KEY NOT NULL, name TEXT, price \(type));")
            let sources = Self.mapping(
                "key = [\"id\"]",
                columns: "id = \"@id\", name = \"@name\", price = { path = \"@price\", type = \"decimal\" }")
            func sync(_ items: String) async throws -> [String] {
                fixture.server.document("/a", "<items>\(items)</items>")
                #expect(try await fixture.sync(sources).first?.error == nil)
                return try fixture.dump()
            }
            let first = try await sync("<item id='a' name='n' price='1.50'/><item id='b' name='n' price='2'/>")
            _ = try await sync("")
            let last = try await sync("<item id='a' name='n' price='1.5'/><item id='b' name='n' price='2.0'/>")
            try await undo(fixture, sources, to: 1)
            #expect(try fixture.dump() == first)
            try await undo(fixture, sources, to: 3)
            #expect(try fixture.dump() == last)
        }
    }

    /// SQLite gives new rows any free row id once the largest is taken.
    @Test func theLargestRowID() async throws {
        guard StoreKind.current == .sqlite else { return }
        for (sources, key) in [(Self.keyed, "PRIMARY KEY"), (Self.mapping(), "")] {
            try await EngineFixture.with { (fixture) async throws in
                let key = key.isEmpty ? "" : " \(key)"
                try fixture.write(schema: "CREATE TABLE IF NOT EXISTS thing (id TEXT\(key), name TEXT);")
                // The table is there from now on.
                try fixture.configuration(sources).openStore(
                    schema: String(contentsOfFile: fixture.folder.file("schema.sql"), encoding: .utf8)
                ).close()
                let upsert = sources.replacing("sync = \"mirror\"", with: "sync = \"upsert\"")
                    .replacing("max_deleted = \"100%\"", with: "")
                try fixture.store.execute(
                    "INSERT INTO thing (rowid, id, name) VALUES (9223372036854775807, 'z', 'mine')")
                try await sync(fixture, upsert, [("a", "1"), ("b", "2")])
                #expect(
                    try fixture.rows("SELECT count(*) FROM tributary_change WHERE operation = 'insert'") == ["2"])
                if key.isEmpty { return }
                try await sync(fixture, upsert, [("c", "3")])
                let report = try await undo(fixture, upsert, to: 0)
                #expect(report.counts.deleted == 3)
                #expect(try fixture.rows("SELECT id FROM thing") == ["z"])
            }
        }
    }

    private static let marked = mapping("key = [\"id\"]\ndeleted = \"gone_at\"")

    /// The changelog says of an undo what it says of a commit: a row that is marked is deleted, one whose mark is cleared is
    /// inserted, and one that was marked before is deleted already.
    @Test func marksInTheChangelog() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await sync(fixture, Self.marked, [("a", "1"), ("b", "1")])
            try await sync(fixture, Self.marked, [("a", "1"), ("c", "1")])
            try await sync(fixture, Self.marked, [("b", "2"), ("c", "2"), ("d", "1")])
            let states = { try fixture.rows("SELECT id, name, gone_at IS NULL FROM thing ORDER BY id") }
            #expect(try states() == ["a|1|0", "b|2|1", "c|2|1", "d|1|1"])
            // 4: back to run 2. a is there again, b is marked again, c is updated, d goes.
            var report = try await undo(fixture, Self.marked, to: 2)
            #expect(try states() == ["a|1|1", "b|1|0", "c|1|1"])
            #expect(try changes(fixture, run: 4) == ["a|insert", "b|delete", "c|update", "d|delete"])
            #expect(report.counts == MergeCounts(inserted: 1, updated: 1, deleted: 2))
            // 5: back to before everything. b was marked before.
            report = try await undo(fixture, Self.marked, to: 0)
            #expect(try states().isEmpty)
            #expect(try changes(fixture, run: 5) == ["a|delete", "c|delete"])
            #expect(report.counts == MergeCounts(deleted: 2))
            // 6: forth again. b comes with its mark.
            report = try await undo(fixture, Self.marked, to: 4)
            #expect(try states() == ["a|1|1", "b|1|0", "c|1|1"])
            #expect(try changes(fixture, run: 6) == ["a|insert", "c|insert"])
            #expect(report.counts == MergeCounts(inserted: 2))
            #expect(
                try fixture.rows("SELECT inserted, updated, deleted FROM tributary_run WHERE id > 3 ORDER BY id")
                    == ["1|1|2", "0|0|2", "2|0|0"])
        }
    }

    /// An undo whose only rows were marked before changes nothing that the changelog tells, and can be undone.
    @Test func onlyMarkedRows() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await sync(fixture, Self.marked, [("a", "1")])
            try await sync(fixture, Self.marked, [])
            let after = try fixture.dump()
            let report = try await undo(fixture, Self.marked, to: 0)
            #expect(report.counts == MergeCounts())
            #expect(try fixture.dump().isEmpty)
            try await undo(fixture, Self.marked, to: 2)
            #expect(try fixture.dump() == after)
        }
    }

    /// The changes that a plan shows are those that the changelog would tell.
    @Test func aPlanOfMarks() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await sync(fixture, Self.marked, [("a", "1"), ("b", "1")])
            try await sync(fixture, Self.marked, [("a", "1"), ("c", "1")])
            try await sync(fixture, Self.marked, [("b", "2"), ("c", "2"), ("d", "1")])
            let told = ToldChanges()
            let counts = try await withStore(fixture, Self.marked) { store, configuration in
                try await UndoRun(
                    "s", to: .run(2), in: store, declaration: configuration[source: "s"],
                    parsers: EngineFixture.registry
                )
                .plan { told.add($0) }
            }
            #expect(told.all == ["delete b", "delete d", "insert a", "update c"])
            #expect(counts == MergeCounts(inserted: 1, updated: 1, deleted: 2))
        }
    }

    /// A row is named by the declared key, as in a commit, and not by a key that the store makes.
    @Test func theDeclaredKeyInTheChangelog() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: "CREATE TABLE IF NOT EXISTS thing (nr INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT);"
            )
            try await sync(fixture, Self.keyed, [("a", "1"), ("b", "1")])
            try await sync(fixture, Self.keyed, [("b", "2"), ("c", "1")])
            #expect(try changes(fixture, run: 2) == ["a|delete", "b|update", "c|insert"])
            let report = try await undo(fixture, Self.keyed, to: 1)
            #expect(try changes(fixture, run: 3) == ["a|insert", "b|update", "c|delete"])
            #expect(report.counts == MergeCounts(inserted: 1, updated: 1, deleted: 1))
        }
    }

    /// SQLite calls no column of a query so.
    @Test func aColumnNamedTrue() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.mapping(
                "key = [\"id\"]", columns: "id = \"@id\", TRUE = \"@name\", false = { path = \"@name\" }")
            try await sync(fixture, sources, [("a", "1"), ("b", "1")])
            let before = try fixture.dump()
            try await sync(fixture, sources, [("b", "2"), ("c", "2")])
            try await undo(fixture, sources, to: 1)
            #expect(try fixture.dump() == before)
        }
    }

    /// The rows of then cannot be told from one another.
    @Test func aTableThatWasMadeAgainWithAnotherKey() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await sync(fixture, Self.keyed, [("a", "1"), ("b", "1")])
            try await sync(fixture, Self.keyed, [("b", "2")])
            for key in ["code TEXT PRIMARY KEY", "code TEXT NOT NULL PRIMARY KEY", "code TEXT NOT NULL UNIQUE"] {
                try fixture.store.execute("DROP TABLE thing; CREATE TABLE thing (\(key), id TEXT, name TEXT)")
                let error = await #expect(throws: StoreError.self) { try await undo(fixture, Self.keyed, to: 1) }
                let text = "the key of table 'thing' is (code), and was another one when the source 's' wrote it"
                #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
                // What was kept can still be read.
                let lines = try await withStore(fixture, Self.keyed) { store, _ in
                    var lines: [String] = []
                    try store.changes(ChangeQuery(run: 2)) { lines.append("\($0.operation) \($0.old?.count ?? 0)") }
                    return lines.sorted()
                }
                #expect(lines == ["delete 2", "update 2"])
            }
        }
    }

    /// Rows that references make are named by the column that is looked up, in a commit, an undo and an undo of that.
    @Test func rowsMadeForReferences() async throws {
        let sources = Self.mapping(
            "key = [\"id\"]",
            columns: "id = \"@id\", maker = { path = \"@name\", references = \"maker(name)\", missing = \"create\" }")
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: "CREATE TABLE IF NOT EXISTS maker (id INTEGER PRIMARY KEY, name TEXT UNIQUE);")
            try await sync(fixture, sources, [("1", "x")])
            let first = try #require(Int64(fixture.rows("SELECT max(id) FROM tributary_run")[0]))
            try await sync(fixture, sources, [("1", "x"), ("2", "z")])
            let second = try #require(Int64(fixture.rows("SELECT max(id) FROM tributary_run")[0]))
            try await undo(fixture, sources, to: first)
            try await undo(fixture, sources, to: second)
            let changes = "SELECT operation, key FROM tributary_change WHERE \"table\" = 'maker' ORDER BY id"
            #expect(try fixture.rows(changes) == ["insert|x", "insert|z", "delete|z", "insert|z"])
        }
    }

    /// A number that PostgreSQL always generates comes back with its row.
    @Test func anIdentityBesideTheKey() async throws {
        guard StoreKind.current == .postgres else { return }
        try await EngineFixture.with { (fixture) async throws in
            try fixture.store.execute(
                "CREATE TABLE thing (id text PRIMARY KEY, name text, n integer GENERATED ALWAYS AS IDENTITY)")
            try await sync(fixture, Self.keyed, [("a", "1"), ("b", "1"), ("c", "1")])
            let before = try fixture.dump()
            try await sync(fixture, Self.keyed, [("b", "2"), ("c", "1"), ("d", "1")])
            let after = try fixture.dump()
            try await undo(fixture, Self.keyed, to: 1)
            #expect(try fixture.dump() == before)
            try await undo(fixture, Self.keyed, to: 2)
            #expect(try fixture.dump() == after)
        }
    }

    /// A key of SQLite's may be NULL.
    @Test func keysThatMayBeNull() async throws {
        guard StoreKind.current == .sqlite else { return }
        try await EngineFixture.with { (fixture) async throws in
            try fixture.store.execute("CREATE TABLE thing (id TEXT PRIMARY KEY, name TEXT)")
            try await sync(fixture, Self.keyed, [("a", "1"), ("b", "1")])
            try fixture.store.execute("DELETE FROM thing WHERE id = 'b'")
            let keys = try await withStore(fixture, Self.keyed) { store, _ in
                var keys: [String] = []
                try store.changes(ChangeQuery(run: 1)) { keys.append("\($0.key)") }
                return keys.sorted()
            }
            #expect(keys.count == 2 && keys[0].contains("a") && keys[1].contains("b"), "\(keys)")
            try fixture.store.execute("INSERT INTO thing VALUES (NULL, 'own')")
            try await sync(fixture, Self.keyed, [("a", "2")])
            #expect(try fixture.rows("SELECT name FROM thing") == ["2"])
            let error = await #expect(throws: StoreError.self) { try await undo(fixture, Self.keyed, to: 1) }
            let text = "rows of table 'thing' that have no value in the key (id), and such rows cannot be found again"
            #expect(error?.message.contains(text) == true, "\(error?.message ?? "")")
        }
    }
}
