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

/// Tables whose declared types or keys have changed: `migrate`.
@Suite(.onEachStore) struct MigrateTests {
    private static func orders(_ types: [String: String] = [:]) -> String {
        let columns = ["number", "price", "day", "open"].map { name in
            "\(name) = { path = \"@\(name)\", type = \"\(types[name] ?? "text")\" }"
        }
        return """
            [[sources.s.requests]]
            url = "URL/a"
            sync = "mirror"
            [[sources.s.requests.tables]]
            table = "purchase"
            element = "order"
            key = ["number"]
            columns = { \(columns.joined(separator: ", ")) }
            [[sources.s.requests.tables]]
            table = "line"
            element = "line"
            key = ["purchase", "position"]
            columns = { purchase = { parent = "purchase" }, position = { ordinal = true }, sku = "@sku" }

            """
    }

    private static func migrate(_ fixture: EngineFixture, _ sources: String) throws -> [TableMigration] {
        let configuration = try fixture.configuration(sources)
        let store = try #require(try configuration.openExistingStore(isWritten: true))
        defer { try? store.close() }
        let source = try #require(configuration[source: "s"])
        let shown = try store.migrations(to: source.schemas)
        let done = try source.migrate(store, in: configuration, parsers: EngineFixture.registry, at: Date())
        #expect(shown == done)
        #expect(try store.migrations(to: source.schemas).isEmpty)
        return done
    }

    @Test func typesChangeAndRowsStay() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let document = """
                <orders><order number='1' price='10.50' day='2027-01-02' open='true'><line sku='a'/><line sku='b'/></order>
                <order number='22' price='3' day='2027-02-03' open='false'><line sku='c'/></order></orders>
                """
            fixture.server.document("/a", document)
            #expect(try await fixture.sync(Self.orders()).first?.counts.inserted == 5)
            try fixture.store.execute("CREATE INDEX purchase_day ON purchase (day)")
            // PostgreSQL takes a text for a boolean, and leaves the column as it is.
            let typed = Self.orders(
                [
                    "number": "integer", "price": "real", "day": "date",
                    "open": StoreKind.by(sqlite: "boolean", postgres: "text"),
                ])
            let refused = try await fixture.sync(typed).first
            #expect(refused?.error?.contains("`tributary migrate s`") == true)
            let done = try Self.migrate(fixture, typed)
            #expect(done.map(\.table) == ["purchase"])
            // The failure is over: the source is due. The rows are as the mapping makes them.
            #expect(try fixture.rows("SELECT error FROM tributary_source") == ["NULL"])
            let report = try await fixture.sync(typed, mode: .whenDue).first
            #expect(report?.error == nil)
            #expect(report?.counts == MergeCounts(unchanged: 5))
            #expect(
                try fixture.rows("SELECT number + 1, price + 1, open FROM purchase ORDER BY 1")
                    == StoreKind.by(sqlite: ["2|11.5|1", "23|4.0|0"], postgres: ["2|11.5|true", "23|4.0|false"]))
            #expect(throws: (any Error).self) { try fixture.store.execute("DELETE FROM purchase WHERE number = 1") }
            fixture.server.document("/a", document.replacing("number='22'", with: "number='23'"))
            #expect(try await fixture.sync(typed).first?.counts == MergeCounts(inserted: 2, deleted: 2, unchanged: 3))
        }
    }

    @Test func aValueThatDoesNotConvertIsNamed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document(
                "/a", "<orders><order number='1' price='1'/><order number='2' price='cheap'/></orders>")
            _ = try await fixture.sync(Self.orders())
            let before = try fixture.dump()
            let takenByTexts = ["decimal", "date", "datetime"]
            for type in ["integer", "real", "decimal", "boolean", "date", "datetime"] {
                do {
                    _ = try Self.migrate(fixture, Self.orders(["price": type]))
                    // A text takes these as they are written.
                    #expect(StoreKind.by(sqlite: takenByTexts, postgres: takenByTexts + ["boolean"]).contains(type))
                } catch let error as StoreError {
                    #expect(error.message.contains("'cheap' in column 'price' is no"), "\(error.message)")
                    #expect(error.message.contains("number") && error.message.contains("2"))
                }
                #expect(try fixture.dump() == before)
            }
        }
    }

    @Test func keysChange() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let things = { (key: String) in
                """
                [[sources.s.requests]]
                url = "URL/a"
                sync = "mirror"
                [[sources.s.requests.tables]]
                table = "thing"
                element = "item"
                key = [\(key)]
                columns = { id = "@id", shop = "@shop", name = { path = "@name" } }

                """
            }
            fixture.server.document("/a", "<all><item id='1' shop='a'/><item id='2' shop='a'/></all>")
            _ = try await fixture.sync(things("\"id\""))
            let wide = things("\"id\", \"shop\"")
            #expect(try await fixture.sync(wide).first?.error?.contains("which no unique index covers") == true)
            #expect(try Self.migrate(fixture, wide).map(\.key) == [["id", "shop"]])
            fixture.server.document(
                "/a", "<all><item id='1' shop='a'/><item id='2' shop='a'/><item id='2' shop='b'/></all>")
            #expect(try await fixture.sync(wide).first?.counts == MergeCounts(inserted: 1, unchanged: 2))
            // And back, which two rows are in the way of.
            let before = try fixture.dump()
            do {
                _ = try Self.migrate(fixture, things("\"id\""))
                Issue.record("rows with one key were taken")
            } catch let error as StoreError {
                #expect(error.message.contains("2 rows have the same key (id"), "\(error.message)")
            }
            #expect(try fixture.dump() == before)
            try fixture.store.execute("DELETE FROM thing WHERE shop = 'b'")
            #expect(try Self.migrate(fixture, things("\"id\"")).map(\.key) == [["id"]])
        }
    }

    /// Values of the old type do not fit the table any more.
    @Test func aTypeEndsTheHistory() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let things = { (type: String) in
                """
                [sources.s]
                keep_history = true
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "thing"
                element = "item"
                key = ["id"]
                columns = { id = "@id", size = { path = "@size", type = "\(type)" } }

                """
            }
            fixture.server.document("/a", "<all><item id='1' size='5'/></all>")
            #expect(try await fixture.sync(things("text")).first?.error == nil)
            let done = try Self.migrate(fixture, things("integer"))
            #expect(done.map(\.endsHistory) == [true])
            #expect(done.first?.changes.last?.contains("ends its history") == true)
            #expect(try fixture.rows("SELECT tributary_operation FROM tributary_history_thing") == ["insert"])
            fixture.server.document("/a", "<all><item id='1' size='6'/></all>")
            #expect(try await fixture.sync(things("integer")).first?.counts == MergeCounts(updated: 1))
            #expect(try fixture.rows("SELECT size + 1 FROM tributary_history_thing") == ["6"])
            #expect(
                try fixture.rows("SELECT CASE WHEN history THEN 1 ELSE 0 END FROM tributary_run WHERE id = 1")
                    == ["0"])
        }
    }

    /// Runs from before the table got another key are undone as long as each row has the same values in it.
    @Test func undoBeforeAnotherKey() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let things = { (key: String) in
                """
                [sources.s]
                keep_history = true
                [[sources.s.requests]]
                url = "URL/a"
                sync = "mirror"
                max_deleted = "100%"
                [[sources.s.requests.tables]]
                table = "thing"
                element = "item"
                key = [\(key)]
                columns = { id = "@id", shop = "@shop", name = { path = "@name" } }

                """
            }
            let (narrow, wide) = (things("\"id\""), things("\"id\", \"shop\""))
            var states: [[String]] = [[]]
            for document in [
                "<item id='1' shop='a' name='n'/><item id='2' shop='a' name='n'/>",
                "<item id='2' shop='a' name='m'/><item id='3' shop='a' name='n'/>",
            ] {
                fixture.server.document("/a", "<all>\(document)</all>")
                #expect(try await fixture.sync(narrow).first?.error == nil)
                states.append(try fixture.dump().sorted())
            }
            #expect(try Self.migrate(fixture, wide).map(\.key) == [["id", "shop"]])
            fixture.server.document(
                "/a", "<all><item id='2' shop='a' name='m'/><item id='2' shop='b' name='n'/></all>")
            #expect(try await fixture.sync(wide).first?.counts == MergeCounts(inserted: 1, deleted: 1, unchanged: 1))
            states.append(try fixture.dump().sorted())
            for run in [2, 1, 3, 0, 3, 1] {
                let configuration = try fixture.configuration(wide)
                let store = try #require(try configuration.openExistingStore(isWritten: true))
                defer { try? store.close() }
                _ = try await UndoRun(
                    "s", to: .run(Int64(run)), in: store, declaration: configuration[source: "s"],
                    parsers: EngineFixture.registry
                ).run()
                #expect(try fixture.dump().sorted() == states[run], "run \(run)")
            }
        }
    }

    /// The rows before the change do not fit the table any more, whether or not a run has committed since.
    @Test func undoBeforeAnotherType() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func orders(_ type: String) -> String {
                "[sources.s]\nkeep_history = true\n" + Self.orders(["price": type])
            }
            func undo(to run: Int64) async throws -> String {
                let configuration = try fixture.configuration(orders("integer"))
                let store = try #require(try configuration.openExistingStore(isWritten: true))
                defer { try? store.close() }
                do {
                    _ = try await UndoRun(
                        "s", to: .run(run), in: store, declaration: configuration[source: "s"],
                        parsers: EngineFixture.registry
                    ).run()
                    return ""
                } catch let error as StoreError {
                    return error.message
                }
            }
            for price in 1...2 {
                fixture.server.document("/a", "<orders><order number='1' price='\(price)'/></orders>")
                #expect(try await fixture.sync(orders("text")).first?.error == nil)
            }
            #expect(try Self.migrate(fixture, orders("integer")).map(\.table) == ["purchase"])
            let before = try await undo(to: 1)
            #expect(
                before.contains("the type of 'price' in table 'purchase' has changed since")
                    && before.contains("only runs after that change can be"), "\(before)")
            fixture.server.document("/a", "<orders><order number='1' price='3'/></orders>")
            #expect(try await fixture.sync(orders("integer")).first?.counts.updated == 1)
            let after = try await undo(to: 1)
            #expect(
                after.contains(
                    "run 2 of source 's' kept no complete history in this store, or the type of a column has changed since"
                )
                    && after.contains("can be undone to run 2 or a later one"), "\(after)")
            #expect(try fixture.rows("SELECT price FROM purchase") == ["3"])
            #expect(try await undo(to: 2) == "")
            #expect(try fixture.rows("SELECT price FROM purchase") == ["2"])
        }
    }

    /// The keys of the history cannot be compared with those of the rows until the next commit begins it anew.
    @Test func changesBeforeAnotherTypeOfTheKey() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func source(_ type: String) -> String {
                """
                [sources.s]
                keep_history = true
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "t"
                element = "r"
                key = ["id"]
                columns = { id = { path = "@id", type = "\(type)" }, v = "@v" }

                """
            }
            for value in ["a", "c"] {
                fixture.server.document("/a", "<a><r id='1' v='\(value)'/></a>")
                #expect(try await fixture.sync(source("integer")).first?.error == nil)
            }
            #expect(try Self.migrate(fixture, source("text")).map(\.table) == ["t"])
            let store = try #require(try fixture.configuration(source("text")).openExistingStore())
            defer { try? store.close() }
            var changes: [RowChange] = []
            try store.changes(ChangeQuery(run: 2)) { changes.append($0) }
            #expect(changes.map(\.old?.last?.value) == [.text("a")] && changes.map(\.isKnown) == [false], "\(changes)")
            let update = ChangelogEntry(id: 2, table: "t", key: .text("1"), operation: "update")
            let images = try store.withImages([update], of: 2, keys: ["t": ["id"]]).map(\.images)
            #expect(images.map(\.?.before) == [nil], "\(images)")
        }
    }

    /// What uses a column is named before anything is changed.
    @Test func viewsOverAColumn() async throws {
        guard StoreKind.current == .postgres else { return }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<orders><order number='1' price='1'><line sku='a'/></order></orders>")
            _ = try await fixture.sync(Self.orders())
            try fixture.store.execute(
                """
                CREATE VIEW cheap AS SELECT number, price FROM purchase WHERE price < '5';
                CREATE MATERIALIZED VIEW kept AS SELECT price FROM purchase;
                CREATE VIEW lines AS SELECT purchase, sku FROM line;
                CREATE VIEW others AS SELECT number, day FROM purchase
                """)
            for (types, expected) in [
                (
                    ["price": "real"],
                    "the materialized view kept and the view cheap use column 'price' of table 'purchase'"
                ),
                (["number": "integer"], "the view cheap, the view lines and the view others use column 'number'"),
            ] {
                let configuration = try fixture.configuration(Self.orders(types))
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
                        let message = "\(error)"
                        return message.contains(expected) && message.contains("nothing was changed")
                    }
                }
            }
            try fixture.store.execute(
                "DROP VIEW cheap; DROP MATERIALIZED VIEW kept; DROP VIEW others")
            #expect(try Self.migrate(fixture, Self.orders(["price": "real"])).count == 1)
            #expect(try fixture.rows("SELECT price FROM purchase") == ["1.0"])
        }
    }

    @Test func aRunIsWaitedFor() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<orders><order number='1'/></orders>")
            _ = try await fixture.sync(Self.orders())
            let other = try #require(try fixture.configuration(Self.orders()).openExistingStore(isWritten: true))
            let claim = try #require(try other.claim("s"))
            do {
                _ = try Self.migrate(fixture, Self.orders(["number": "integer"]))
                Issue.record("a table was changed during a run")
            } catch let error as StoreError {
                #expect(error.message.contains("'s' is running"))
            }
            claim.unlock()
            #expect(try Self.migrate(fixture, Self.orders(["number": "integer"])).count == 1)
            try other.close()
        }
    }

    /// SQLite changes a table only by making it again, and what its owner has written would be lost.
    @Test func aTableOfTheUsersOwn() async throws {
        guard StoreKind.current == .sqlite else { return }
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS own (id INTEGER PRIMARY KEY, n TEXT DEFAULT '1' CHECK (length(n) < 9));
                    CREATE TABLE IF NOT EXISTS plain (id TEXT NOT NULL, n TEXT, PRIMARY KEY (id));
                    """)
            let store = try fixture.configuration(Self.orders()).openStore(
                schema: String(contentsOfFile: fixture.folder.file("schema.sql"), encoding: .utf8))
            defer { try? store.close() }
            try fixture.store.execute("INSERT INTO own VALUES (5, '41'); INSERT INTO plain VALUES ('a', '41')")
            let schema = { (name: String) in
                TableSchema(
                    name: name, columns: [.init(name: "n", type: "INTEGER")], key: [], place: KeyPlace(path: "f"))
            }
            let before = try fixture.dump()
            for change in [
                { _ = try store.migrations(to: [schema("own")]) }, { _ = try store.migrate(to: [schema("own")]) },
            ] {
                let error = #expect(throws: StoreError.self) { try change() }
                #expect(
                    error?.message.contains(
                        "table 'own' was not made by Tributary, and 'migrate' does not change it (n: TEXT becomes INTEGER)"
                    )
                        == true, "\(String(describing: error))")
            }
            #expect(try fixture.dump() == before)
            // One that says no more than Tributary writes is as good as its own.
            #expect(try store.migrate(to: [schema("plain")]).map(\.changes) == [["n: TEXT becomes INTEGER"]])
            #expect(try fixture.rows("SELECT id, n + 1 FROM plain") == ["a|42"])
        }
    }

    @Test func numbersKeepTheirDigitsAsTexts() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let numbers = ["9007199254740991", "0.1234567890123456", "123456789.12345678", "0.1", "-2.5", "1e300"]
            let orders = numbers.enumerated().map { "<order number='\($0)' price='\($1)'/>" }.joined()
            fixture.server.document("/a", "<orders>\(orders)</orders>")
            #expect(try await fixture.sync(Self.orders(["price": "real"])).first?.error == nil)
            #expect(try Self.migrate(fixture, Self.orders()).map(\.table) == ["purchase"])
            let texts = try fixture.rows("SELECT price FROM purchase ORDER BY number")
            #expect(texts.map { Double($0) } == numbers.map { Double($0) }, "\(texts)")
        }
    }

    /// The column would lose the time of the day or digits, or refuse the values.
    @Test(arguments: [
        ("date", "datetime", "2026-01-04T05:06:07Z"), ("datetime", "text", "tomorrow"), ("integer", "decimal", "1.5"),
        ("real", "decimal", "12345678901234567.891"), ("integer", "decimal", "12345678901234567.891"),
        ("boolean", "decimal", "12345678901234567.891"), ("boolean", "integer", "42"),
    ])
    func aTypeThatKeepsLess(old: String, new: String, value: String) async throws {
        // SQLite keeps dates in texts, and has no type for booleans.
        guard StoreKind.current == .postgres || new == "decimal" else { return }
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<orders><order number='1'/></orders>")
            #expect(try await fixture.sync(Self.orders(["price": old])).first?.error == nil)
            fixture.server.document("/a", "<orders><order number='1' price='\(value)'/></orders>")
            let error = try await fixture.sync(Self.orders(["price": new])).first?.error
            #expect(error?.contains("the mapping gives column 'price' of table 'purchase' the type") == true)
            #expect(try Self.migrate(fixture, Self.orders(["price": new])).map(\.table) == ["purchase"])
            #expect(try await fixture.sync(Self.orders(["price": new])).first?.counts.updated == 1)
            // A time is told as the session has it.
            if value.allSatisfy({ $0.isNumber || $0 == "." }) {
                #expect(try fixture.rows("SELECT price FROM purchase") == [value])
            }
        }
    }

    /// The rows have the form that the mapping gives them: the next run writes none.
    @Test(arguments: [
        ("real", "9.00"), ("real", "-0.5"), ("real", "0.1234567890123456"), ("integer", "9007199254740993"),
    ])
    func numbersBecomeDecimals(old: String, value: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<orders><order number='1' price='\(value)'/></orders>")
            #expect(try await fixture.sync(Self.orders(["price": old])).first?.error == nil)
            let decimal = Self.orders(["price": "decimal"])
            #expect(
                try Self.migrate(fixture, decimal).map(\.changes) == [
                    [
                        "price: "
                            + StoreKind.by(
                                sqlite: "\(old.uppercased()) becomes no type",
                                postgres: (old == "real" ? "double precision" : "bigint") + " becomes numeric")
                    ]
                ])
            #expect(try await fixture.sync(decimal, mode: .full).first?.counts == MergeCounts(unchanged: 1))
            let text = value == "9.00" ? "9" : value
            #expect(try fixture.rows("SELECT price FROM purchase") == [text])
        }
    }

    /// The column holds each new value exactly, and stays as it is.
    @Test func aTypeThatTheColumnHolds() async throws {
        let both = [
            ("text", "decimal", "12345678901234567.891"), ("text", "date", "2026-01-04"),
            ("text", "datetime", "2026-01-04T05:06:07Z"), ("integer", "boolean", "true"),
        ]
        let others = StoreKind.by(
            sqlite: [
                ("date", "datetime", "2026-01-04T05:06:07Z"), ("decimal", "text", "007"), ("boolean", "integer", "42"),
            ],
            postgres: [
                ("decimal", "real", "0.1"), ("decimal", "integer", "9007199254740993"),
                ("datetime", "date", "2026-01-04"),
            ])
        for (old, new, value) in both + others {
            try await EngineFixture.with { (fixture) async throws in
                fixture.server.document("/a", "<orders><order number='1'/></orders>")
                #expect(try await fixture.sync(Self.orders(["price": old])).first?.error == nil)
                fixture.server.document("/a", "<orders><order number='1' price='\(value)'/></orders>")
                let report = try #require(try await fixture.sync(Self.orders(["price": new])).first)
                #expect(report.error == nil && report.counts.updated == 1, "\(old) to \(new): \(report)")
                let stored = try fixture.rows("SELECT price FROM purchase")
                if new == "boolean" {
                    #expect(stored == ["1"])
                } else if new != "date" || old == "text" {
                    #expect(stored == [value])
                }
            }
        }
    }
}
