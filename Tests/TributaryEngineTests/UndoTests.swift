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

/// `keep_history`: what commits replaced, and the way back.
@Suite(.onEachStore) struct UndoTests {
    private static let header = "[sources.s]\nkeep_history = true\n"

    private static func mapping(_ options: String = "", columns: String = "id = \"@id\", name = \"name\"") -> String {
        header + """
            [[sources.s.requests]]
            url = "URL/a"
            sync = "mirror"
            max_deleted = "100%"
            allow_empty = true
            \(options)
            [[sources.s.requests.tables]]
            table = "thing"
            element = "item"
            key = ["id"]
            columns = { \(columns) }

            """
    }

    private static func items(_ names: [String: String]) -> String {
        "<items>" + names.sorted { $0.key < $1.key }.map { "<item id='\($0)'><name>\($1)</name></item>" }.joined()
            + "</items>"
    }

    /// The rows in an order of their own: PostgreSQL lists them by where they lie.
    private func rows(_ fixture: EngineFixture) throws -> [String] { try fixture.dump().sorted() }

    @discardableResult
    private func undo(
        _ fixture: EngineFixture, _ mapping: String, to target: UndoRun.Target = .lastChange
    ) async throws -> RunReport {
        let configuration = try fixture.configuration(mapping)
        let store = try #require(try configuration.openExistingStore(isWritten: true))
        defer { try? store.close() }
        return try await UndoRun(
            "s", to: target, in: store, declaration: configuration[source: "s"], parsers: EngineFixture.registry
        ).run()
    }

    private func changes(_ fixture: EngineFixture, _ mapping: String, _ query: ChangeQuery) throws -> [String] {
        let store = try #require(try fixture.configuration(mapping).openExistingStore())
        defer { try? store.close() }
        var lines: [String] = []
        func text(_ values: RowChange.Values?) -> String {
            values.map { $0.map { "\($0.value)" }.joined(separator: "|") } ?? "-"
        }
        try store.changes(query) { change in
            lines.append(
                "\(change.run) \(change.table) \(change.operation) \(text(change.key)): \(text(change.old)) → \(text(change.new))"
                    + (change.isKnown ? "" : " ?"))
        }
        return lines
    }

    /// The next failure is the first one.
    @Test func anUndoneSourceDoesNotFail() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for name in ["old", "new"] {
                fixture.server.document("/a", Self.items(["1": name]))
                try await fixture.sync(Self.mapping())
            }
            fixture.server.route("/a") { _ in StubServer.response(500, "") }
            try await fixture.sync(Self.mapping())
            let states = "SELECT failures, failing_since IS NULL FROM tributary_source"
            #expect(try fixture.rows(states) == ["1|0"])
            try await undo(fixture, Self.mapping())
            #expect(try fixture.rows(states) == ["0|1"])
            let kinds = try fixture.rows(
                "SELECT kind, failing_since IS NULL FROM tributary_run ORDER BY id DESC LIMIT 1")
            #expect(kinds == ["undo|1"])
        }
    }

    private func message(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "no error"
        } catch {
            return "\(error)"
        }
    }

    @Test func runsAreUndoneOneAfterAnother() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping()
            let documents: [[String: String]] = [
                ["a": "A", "b": "B", "c": ""], ["a": "A2", "c": "C", "d": "D"], [:], ["b": "B3", "d": "D"], ["a": "A"],
            ]
            var states = [try rows(fixture)]
            for document in documents {
                fixture.server.document("/a", Self.items(document))
                #expect(try await fixture.sync(mapping).first?.outcome == .committed)
                states.append(try rows(fixture))
            }
            #expect(try fixture.rows("SELECT count(*) FROM tributary_history_thing") == ["15"])
            // Before the first run the table was not there: it is empty then.
            for number in (1..<states.count).reversed() {
                try await undo(fixture, mapping)
                #expect(try rows(fixture) == (number == 1 ? states[0] : states[number - 1]), "\(number)")
            }
            let exhausted = await message { try await undo(fixture, mapping) }
            #expect(exhausted.contains("no run of source 's' is remembered that has changed rows"))
            // And forth again, as the undone runs are remembered, too.
            for number in [3, 5, 1, 4] {
                try await undo(fixture, mapping, to: .run(Int64(number)))
                #expect(try rows(fixture) == states[number], "\(number)")
            }
        }
    }

    @Test func changesTellFromWhatToWhat() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping()
            fixture.server.document("/a", Self.items(["a": "A", "b": "B"]))
            try await fixture.sync(mapping)
            fixture.server.document("/a", Self.items(["a": "A2", "c": "C"]))
            try await fixture.sync(mapping)
            fixture.server.document("/a", Self.items(["a": "A3", "c": "C"]))
            try await fixture.sync(mapping)
            let second = try changes(fixture, mapping, ChangeQuery(source: "s", run: 2)).sorted()
            #expect(
                second == [
                    "2 thing delete \"b\": \"b\"|\"B\" → -", "2 thing insert \"c\": - → \"c\"|\"C\"",
                    "2 thing update \"a\": \"a\"|\"A\" → \"a\"|\"A2\"",
                ])
            #expect(
                try changes(fixture, mapping, ChangeQuery(run: 3))
                    == ["3 thing update \"a\": \"a\"|\"A2\" → \"a\"|\"A3\""])
            try fixture.store.execute("UPDATE thing SET name = 'mine' WHERE id = 'a'")
            #expect(
                try changes(fixture, mapping, ChangeQuery(run: 3)) == ["3 thing update \"a\": \"a\"|\"A2\" → - ?"])
            #expect(try changes(fixture, mapping, ChangeQuery(source: "t")).isEmpty)
            #expect(try changes(fixture, mapping, ChangeQuery(since: Date() + 60)).isEmpty)
            let all = try changes(fixture, mapping, ChangeQuery(table: "THING"))
            #expect(all.count == 6)
            for passed in 0...7 {
                var query = ChangeQuery()
                query.passedOver = passed
                #expect(try changes(fixture, mapping, query) == Array(all.dropFirst(passed)))
            }
            let store = try #require(try fixture.configuration(mapping).openExistingStore())
            var places: [RowChange.Place] = []
            try store.changes(ChangeQuery()) { places.append(try #require($0.place)) }
            try store.close()
            #expect(places.count == all.count)
            for (passed, place) in places.enumerated() {
                var query = ChangeQuery()
                query.after = place
                #expect(try changes(fixture, mapping, query) == Array(all.dropFirst(passed + 1)))
            }
        }
    }

    @Test func rowsThatSomethingElseHasChangedAreNamed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping()
            fixture.server.document("/a", Self.items(["a": "A", "b": "B", "c": "C"]))
            try await fixture.sync(mapping)
            fixture.server.document("/a", Self.items(["a": "A2", "b": "B2", "d": "D"]))
            try await fixture.sync(mapping)
            for (change, back, key) in [
                ("UPDATE thing SET name = 'x' WHERE id = 'a'", "UPDATE thing SET name = 'A2' WHERE id = 'a'", "a"),
                ("DELETE FROM thing WHERE id = 'd'", "INSERT INTO thing (id, name) VALUES ('d', 'D')", "d"),
                ("INSERT INTO thing (id, name) VALUES ('c', 'C')", "DELETE FROM thing WHERE id = 'c'", "c"),
            ] {
                try fixture.store.execute(change)
                let before = try rows(fixture)
                let error = await message { try await undo(fixture, mapping) }
                #expect(
                    error.contains("another source or program has changed a row of table 'thing' that the source")
                        && error.contains(": key \(key);"),
                    "\(error)")
                #expect(try rows(fixture) == before)
                try fixture.store.execute(back)
            }
            try await undo(fixture, mapping)
            #expect(try fixture.rows("SELECT id, name FROM thing ORDER BY id") == ["a|A", "b|B", "c|C"])
        }
    }

    /// Runs are numbered across all sources, and another's says nothing of this one's rows.
    @Test func thePointIsOneOfTheSource() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let other = Self.mapping().replacing("sources.s", with: "sources.t").replacing("thing", with: "other")
            for number in ["1", "2"] {
                fixture.server.document("/a", Self.items(["a": number]), etag: "\"\(number)\"")
                try await fixture.sync(Self.mapping() + other, ["s"])
                try await fixture.sync(Self.mapping() + other, ["t"])
            }
            try await undo(fixture, Self.mapping())
            let notes = "SELECT note FROM tributary_source WHERE source = 's'"
            #expect(try fixture.rows(notes).first?.hasPrefix("undone to run 1:") == true)
            try await undo(fixture, Self.mapping())
            #expect(try fixture.rows(notes).first?.hasPrefix("undone to before run 1:") == true)
            #expect(try fixture.rows("SELECT count(*) FROM thing") == ["0"])
        }
    }

    @Test func nothingIsTakenUntilTheFeedDiffers() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping()
            for (number, tag) in [("1", "\"1\""), ("2", "\"2\"")] {
                fixture.server.document("/a", Self.items(["a": number]), etag: tag)
                try await fixture.sync(mapping)
            }
            try await undo(fixture, mapping)
            #expect(try fixture.rows("SELECT name FROM thing") == ["1"])
            let held = try #require(try await fixture.sync(mapping).first)
            #expect(held.outcome == .unchanged)
            #expect(
                held.note == "the feed is still the undone one, and is held back; `tributary resume s` commits it")
            #expect(!Figures.summary(held, now: Date()).contains("nothing new"))
            // Not even where the declaration has changed, or everything is to be fetched.
            let other = Self.mapping("timeout = \"7s\"", columns: "id = \"@id\", name = \"name\", more = \"@more\"")
            #expect(try await fixture.sync(other).first?.outcome == .unchanged)
            #expect(try await fixture.sync(mapping, mode: .full).first?.outcome == .unchanged)
            // Nor where the same document is served anew. It is fetched once.
            fixture.server.document("/a", Self.items(["a": "2"]), etag: "\"another\"")
            for status in [200, 304] {
                let again = try #require(try await fixture.sync(mapping).first)
                #expect(again.outcome == .unchanged && again.requests[0].status == status, "\(again)")
            }
            #expect(try fixture.rows("SELECT name FROM thing") == ["1"])
            let note = try fixture.rows("SELECT note FROM tributary_source").first ?? ""
            #expect(note.contains("undone to run 1") && note.contains("tributary resume s"), "\(note)")
            fixture.server.document("/a", Self.items(["a": "3"]), etag: "\"3\"")
            #expect(try await fixture.sync(mapping).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT name FROM thing") == ["3"])
            #expect(try fixture.rows("SELECT undone IS NULL, note IS NULL FROM tributary_source") == ["1|1"])
            // What is resumed takes the feed as it is.
            try await undo(fixture, mapping)
            let store = try #require(try fixture.configuration(mapping).openExistingStore(isWritten: true))
            #expect(try store.write { try $0.sources.resume(["s"]) } == ["s"])
            #expect(try store.write { try $0.sources.resume(["s"]) } == [])
            try store.close()
            #expect(try await fixture.sync(mapping).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT name FROM thing") == ["3"])
        }
    }

    /// Two replicas answer in turns, of which one has the undone feed.
    @Test func anUndoneFeedThatComesBackWithinARunIsNotCommitted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping()
            for number in ["1", "2"] {
                fixture.server.document("/a", Self.items(["a": number]), etag: "\"\(number)\"")
                try await fixture.sync(mapping)
            }
            try await undo(fixture, mapping)
            let answers = Mutex(0)
            fixture.server.route("/a") { _ in
                let number = answers.withLock { count in
                    count += 1
                    return count == 1 ? "3" : "2"
                }
                return StubServer.response(200, Self.items(["a": number]), ["ETag": "\"\(number)\""])
            }
            let run = try #require(try await fixture.sync(mapping).first)
            #expect(run.outcome == .discarded)
            #expect(run.error?.contains("fetched again") == true, "\(run)")
            #expect(try fixture.rows("SELECT name FROM thing") == ["1"])
            #expect(try fixture.rows("SELECT undone IS NULL FROM tributary_source") == ["0"])
            fixture.server.document("/a", Self.items(["a": "3"]), etag: "\"3\"")
            #expect(try await fixture.sync(mapping, mode: .force).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT name FROM thing") == ["3"])
        }
    }

    /// A run that holds the feed back notes its new validators, unless the undo has ended meanwhile.
    @Test func aResumeDuringARunIsKept() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping()
            for number in ["1", "2"] {
                fixture.server.document("/a", Self.items(["a": number]), etag: "\"\(number)\"")
                try await fixture.sync(mapping)
            }
            try await undo(fixture, mapping)
            let resumed = Mutex<[String]>([])
            fixture.server.route("/a") { _ in
                let store = try? fixture.configuration(mapping).openExistingStore(isWritten: true)
                let names = try? store?.write { try $0.sources.resume(["s"]) }
                try? store?.close()
                resumed.withLock { $0 = names ?? [] }
                return StubServer.response(200, Self.items(["a": "2"]), ["ETag": "\"another\""])
            }
            #expect(try await fixture.sync(mapping).first?.outcome == .unchanged)
            #expect(resumed.withLock(\.self) == ["s"])
            #expect(try fixture.rows("SELECT count(*) FROM tributary_source WHERE undone IS NULL") == ["1"])
            fixture.server.document("/a", Self.items(["a": "2"]), etag: "\"another\"")
            #expect(try await fixture.sync(mapping).first?.outcome == .committed)
            #expect(try fixture.rows("SELECT name FROM thing") == ["2"])
        }
    }

    @Test func aRunWithoutHistoryEndsTheWayBack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping()
            let bare = mapping.replacing("keep_history = true", with: "")
            for (name, mapping) in [("1", mapping), ("2", bare), ("3", mapping)] {
                fixture.server.document("/a", Self.items(["a": name]))
                try await fixture.sync(mapping)
            }
            let error = await message { try await undo(fixture, mapping, to: .run(1)) }
            #expect(error.contains("run 2 of source 's' kept no complete history"), "\(error)")
            try await undo(fixture, mapping, to: .run(2))
            #expect(try fixture.rows("SELECT name FROM thing") == ["2"])
        }
    }

    @Test func aSourceWithoutHistoryIsNotUndone() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let bare = Self.mapping().replacing("keep_history = true", with: "")
            fixture.server.document("/a", Self.items(["a": "1"]))
            try await fixture.sync(bare)
            let error = await message { try await undo(fixture, bare) }
            #expect(error.contains("run 1 of source 's' cannot be undone: it kept no history in"), "\(error)")
        }
    }

    @Test func whatCannotBeUndoneChangesNothing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping()
            for name in ["1", "2"] {
                fixture.server.document("/a", Self.items(["a": name]))
                try await fixture.sync(mapping)
            }
            let before = try rows(fixture)
            let last = await message { try await undo(fixture, mapping, to: .run(2)) }
            #expect(last.contains("no run of source 's' after run 2 has changed rows"), "\(last)")
            let unknown = await message { try await undo(fixture, mapping, to: .run(99)) }
            #expect(unknown.contains("there is no run 99 of source 's'; `tributary history s`"), "\(unknown)")
            try fixture.store.execute("ALTER TABLE thing RENAME TO other")
            let gone = await message { try await undo(fixture, mapping) }
            #expect(gone.contains("the table 'thing', which the source 's' has written, no longer exists"), "\(gone)")
            try fixture.store.execute("ALTER TABLE other RENAME TO thing")
            #expect(try rows(fixture) == before)
            #expect(try fixture.rows("SELECT count(*) FROM tributary_source WHERE undone IS NOT NULL") == ["0"])
        }
    }

    /// A history ends where a column's type changes: its values would not fit any more. The next one begins there.
    @Test func aTypeThatChanges() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func mapping(_ type: String) -> String {
                Self.mapping(columns: "id = \"@id\", name = { path = \"name\", type = \"\(type)\" }")
            }
            for name in ["1", "2"] {
                fixture.server.document("/a", Self.items(["a": name]))
                try await fixture.sync(mapping("integer"))
            }
            try fixture.store.execute("DROP TABLE thing")
            for name in ["007", "008"] {
                fixture.server.document("/a", Self.items(["a": name]))
                #expect(try await fixture.sync(mapping("text")).first?.error == nil)
            }
            #expect(try fixture.rows("SELECT count(*) FROM tributary_history_thing") == ["2"])
            try await undo(fixture, mapping("text"))
            #expect(try fixture.rows("SELECT name FROM thing") == ["007"])
            let error = await message { try await undo(fixture, mapping("text"), to: .run(1)) }
            #expect(error.contains("run 2 of source 's' kept no complete history"), "\(error)")
            #expect(try changes(fixture, mapping("text"), ChangeQuery(run: 2)).isEmpty)
        }
    }

    @Test func aTriggerThatChangesWhatIsBroughtBack() async throws {
        guard StoreKind.current == .sqlite else { return }
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping()
            for name in ["1", "2"] {
                fixture.server.document("/a", Self.items(["a": name]))
                try await fixture.sync(mapping)
            }
            try fixture.store.execute(
                "CREATE TRIGGER t AFTER UPDATE ON thing BEGIN UPDATE thing SET name = name || 'x' WHERE id = new.id; END"
            )
            let error = await message { try await undo(fixture, mapping) }
            #expect(error.contains("a row of table 'thing' cannot be restored"), "\(error)")
            #expect(try fixture.rows("SELECT name FROM thing") == ["2"])
        }
    }

    @Test func aTriggerThatBringsBackWhatIsDeleted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(schema: "CREATE TABLE IF NOT EXISTS thing (id text NOT NULL PRIMARY KEY, name text)")
            let mapping = Self.mapping()
            for names in [["a": "1"], ["a": "1", "b": "2"]] {
                fixture.server.document("/a", Self.items(names))
                try await fixture.sync(mapping)
            }
            try fixture.store.execute(
                StoreKind.by(
                    sqlite: """
                        CREATE TRIGGER t AFTER DELETE ON thing BEGIN INSERT INTO thing VALUES (old.id, old.name); END
                        """,
                    postgres: """
                        CREATE FUNCTION bring_back() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                            INSERT INTO thing VALUES (old.id, old.name);
                            RETURN NULL;
                        END $$;
                        CREATE TRIGGER t AFTER DELETE ON thing FOR EACH ROW EXECUTE FUNCTION bring_back()
                        """))
            let error = await message { try await undo(fixture, mapping) }
            #expect(error.contains("a row of table 'thing' cannot be restored"), "\(error)")
            #expect(try fixture.rows("SELECT id FROM thing ORDER BY id") == ["a", "b"])
        }
    }

    @Test func gainedColumns() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func document(_ size: String) -> String {
                "<items><item id='a' size='\(size)'><name>A</name></item><item id='b' size='\(size)'/></items>"
            }
            fixture.server.document("/a", document("1"))
            try await fixture.sync(Self.mapping())
            let first = try fixture.rows("SELECT id, name FROM thing ORDER BY id")
            let wide = Self.mapping(
                columns: "id = \"@id\", name = \"name\", size = { path = \"@size\", type = \"integer\" }")
            for size in ["1", "2"] {
                fixture.server.document("/a", document(size))
                try await fixture.sync(wide)
            }
            fixture.server.document("/a", "<items/>")
            try await fixture.sync(wide)
            try await undo(fixture, wide, to: .run(2))
            #expect(try fixture.rows("SELECT id, name, size FROM thing ORDER BY id") == ["a|A|1", "b|NULL|1"])
            try await undo(fixture, wide, to: .run(1))
            #expect(try fixture.rows("SELECT id, name FROM thing ORDER BY id") == first)
            #expect(try fixture.rows("SELECT count(size) FROM thing") == ["0"])
        }
    }

    @Test func parentsChildrenAndGeneratedKeys() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping =
                Self.header + """
                    [[sources.s.requests]]
                    url = "URL/a"
                    sync = "mirror"
                    max_deleted = "100%"
                    allow_empty = true
                    [[sources.s.requests.tables]]
                    table = "shop"
                    element = "shop"
                    columns = { name = "@name" }
                    [[sources.s.requests.tables]]
                    table = "product"
                    element = "shop/product"
                    columns = { shop = { parent = "shop" }, code = "@code", price = { path = "@price", type = "decimal" } }

                    """
            let documents = [
                "<l><shop name='x'><product code='1' price='1.10'/><product code='2'/></shop></l>",
                "<l><shop name='x'><product code='2'/></shop><shop name='y'><product code='1' price='1.1'/></shop></l>",
                "<l><shop name='y'><product code='1' price='1.1'/><product code='3' price='0'/></shop></l>", "<l/>",
            ]
            var states: [[String]] = []
            for document in documents {
                fixture.server.document("/a", document)
                let report = try await fixture.sync(mapping).first
                #expect(report?.error == nil)
                states.append(try rows(fixture))
            }
            for state in states.dropLast().reversed() {
                try await undo(fixture, mapping)
                #expect(try rows(fixture) == state)
            }
        }
    }

    /// Documents by chance, committed and undone by chance, with another source that owns other rows of the table.
    @Test(arguments: 0..<6) func randomRuns(seed: UInt64) async throws {
        try await EngineFixture.with { (fixture) async throws in
            var random = SplitMix64(seed: seed)
            let sync = ["mirror", "upsert", "mirror"].randomElement(using: &random) ?? ""
            let own = Self.mapping("scope = { shop = \"a\" }", columns: Self.typed).replacing(
                "\"mirror\"", with: "\"\(sync)\"")
            let other = own.replacing("sources.s", with: "sources.t").replacing("\"a\"", with: "\"b\"").replacing(
                "/a", with: "/b")
            var states: [Int64: [String]] = [:]
            func number() throws -> Int64 {
                Int64(try fixture.rows("SELECT max(id) FROM tributary_run").first ?? "") ?? 0
            }
            func ownRows() throws -> [String] { try fixture.rows("SELECT * FROM thing WHERE shop = 'a'").sorted() }
            for _ in 0..<14 {
                let prefix = Bool.random(using: &random) ? "a" : "b"
                fixture.server.document("/" + prefix, Self.randomItems(prefix, &random))
                _ = try await fixture.sync(own + other, [prefix == "a" ? "s" : "t"], mode: .full)
                if prefix == "a" { states[try number()] = try ownRows() }
                guard Int.random(in: 0..<4, using: &random) == 0, let target = states.keys.randomElement(using: &random)
                else { continue }
                let others = try fixture.rows("SELECT * FROM thing WHERE shop = 'b'").sorted()
                let error = await message { try await undo(fixture, own + other, to: .run(target)) }
                guard error == "no error" else {
                    #expect(error.contains("nothing to undo"), "\(error)")
                    continue
                }
                #expect(try ownRows() == states[target], "run \(target)")
                #expect(try fixture.rows("SELECT * FROM thing WHERE shop = 'b'").sorted() == others)
                states[try number()] = try ownRows()
                let store = try #require(try fixture.configuration(own + other).openExistingStore(isWritten: true))
                _ = try store.write { try $0.sources.resume(["s"]) }
                try store.close()
            }
        }
    }

    private static let typed = """
        id = "@id", name = "name", shop = { value = "a" }, size = { path = "@size", type = "integer" }, \
        weight = { path = "@weight", type = "real" }, price = { path = "@price", type = "decimal" }, \
        day = { path = "@day", type = "date" }, at = { path = "@at", type = "datetime" }, \
        flag = { path = "@flag", type = "boolean" }, raw = { path = "raw", type = "blob" }
        """

    private static func randomItems(_ prefix: String, _ random: inout SplitMix64) -> String {
        func attribute(_ name: String, _ values: [String]) -> String {
            values.randomElement(using: &random).map { $0.isEmpty ? "" : " \(name)='\($0)'" } ?? ""
        }
        let items = (0..<8).compactMap { number -> String? in
            guard Int.random(in: 0..<3, using: &random) > 0 else { return nil }
            return "<item id='\(prefix)\(number)'" + attribute("size", ["", "1", "-7"])
                + attribute("weight", ["", "0.1", "1e300"])
                + attribute("price", ["", "1.10", "1.1", "99999999999999999999.5"])
                + attribute("day", ["", "2026-11-22"]) + attribute("at", ["", "2026-11-22T08:00:00+01:00"])
                + attribute("flag", ["", "true", "false"]) + "><name>"
                + (["", "Ä", "a\u{301}", " ", "&lt;"].randomElement(using: &random) ?? "") + "</name>"
                + (Bool.random(using: &random) ? "<raw>AAEC</raw>" : "") + "</item>"
        }
        return "<items>" + items.shuffled(using: &random).joined() + "</items>"
    }
}
