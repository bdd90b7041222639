import FeedModel
@testable import PostgresStore
import PostgresServer
import Testing
@testable import FeedStaging
@testable import FeedStores

/// Tables that mappings declare and parsers bring along.
@Suite struct PreparedTablesTests {
    private let types = [
        TableSchema.Column(name: "Key A", type: "TEXT"), .init(name: "select", type: "INTEGER", isNotNull: true),
        .init(name: "Real", type: "REAL"), .init(name: "price", type: ""), .init(name: "data", type: "BLOB"),
        .init(name: "flag", type: "BOOLEAN"), .init(name: "day", type: "DATE"), .init(name: "at", type: "datetime"),
    ]

    private func columns(_ fixture: TablesFixture, _ table: String) throws -> [String] {
        try fixture.details(table).columns.map { "\($0.name) \($0.type)\($0.isNotNull ? " NOT NULL" : "")" }
    }

    @Test func aTableOfEveryTypeIsCreated() async throws {
        try await TablesFixture.with { (fixture) async throws in
            let definition = TableSchema(
                name: "Ä \"b", columns: types, key: ["key a", "Shop"], scope: ["Shop"],
                indexes: [["Shop"], ["Key A"], ["day", "Shop"]], place: KeyPlace(path: "here"))
            #expect(try !fixture.store.isPrepared(for: [definition]))
            try fixture.store.prepareTables([definition])
            try fixture.store.prepareTables([definition])
            #expect(try fixture.store.isPrepared(for: [definition]))
            #expect(
                try columns(fixture, "Ä \"b") == [
                    "Key A text NOT NULL", "select bigint NOT NULL", "Real double precision", "price numeric",
                    "data bytea", "flag boolean", "day date", "at timestamp with time zone", "Shop text NOT NULL",
                ])
            #expect(try fixture.store.tableInfo("Ä \"b").primaryKey == ["Key A", "Shop"])
            let indexes = try fixture.rows("SELECT indexdef FROM pg_indexes WHERE tablename = 'Ä \"b' ORDER BY 1")
            #expect(indexes.count == 3)
            #expect(try fixture.store.columns(of: "Ä \"b").contains("key a"))
            #expect(try fixture.store.tables().map(\.name) == ["Ä \"b"])
        }
    }

    @Test func tablesReferToOneAnotherInAnyOrder() async throws {
        let definitions = [
            TableSchema(
                name: "child",
                columns: [
                    .init(name: "id", type: "TEXT"), .init(name: "owner", type: nil, references: "Parent"),
                    .init(name: "other", type: nil, references: "old"),
                    .init(name: "up", type: nil, references: "child"),
                ], key: ["id"], place: KeyPlace(path: "a")),
            TableSchema(
                name: "parent", columns: [.init(name: "id", type: "TEXT"), .init(name: "n", type: "INTEGER")],
                key: ["id", "n"], needsGeneratedKey: true, place: KeyPlace(path: "b")),
        ]
        try await TablesFixture.with("CREATE TABLE old (id varchar(9) PRIMARY KEY)") { (fixture) async throws in
            try fixture.store.prepareTables(definitions)
            #expect(
                try columns(fixture, "child") == [
                    "id text NOT NULL", "owner bigint", "other character varying(9)", "up text",
                ])
            let parent = try fixture.store.tableInfo("parent")
            #expect(parent.generatedKey == "parent_id")
            #expect(parent.uniqueIndexes == [["parent_id"], ["id", "n"]])
            #expect(try fixture.store.refers("owner", of: "child", to: "parent"))
            let keys = try fixture.rows("SELECT condeferrable FROM pg_constraint WHERE contype = 'f'")
            #expect(keys == ["t", "t", "t"])
            let tables = try fixture.store.tables()
            #expect(tables.map(\.name) == ["child", "old", "parent"])
            #expect(
                tables[0].foreignKeys.map { "\($0.columns[0]) \($0.parentName).\($0.targets[0])" } == [
                    "owner parent.parent_id", "other old.id", "up child.id",
                ])
        }
    }

    @Test func newColumnsAreAdded() async throws {
        try await TablesFixture.with("CREATE TABLE \"Item\" (\"ID\" text PRIMARY KEY)") { (fixture) async throws in
            let definition = TableSchema(
                name: "item",
                columns: [
                    .init(name: "id", type: "TEXT"), .init(name: "Size", type: "INTEGER", isNotNull: true),
                    .init(name: "kind", type: nil, references: "item"),
                ], key: ["id"], place: KeyPlace(path: "p"))
            try fixture.store.prepareTables([definition])
            #expect(try columns(fixture, "item") == ["ID text NOT NULL", "Size bigint", "kind text"])
            try fixture.execute("ALTER TABLE \"Item\" DROP COLUMN \"Size\"")
            try fixture.store.renewTableInfos(of: nil)
            #expect(try columns(fixture, "item").count == 2)
            try fixture.store.prepareTables([definition])
            #expect(try columns(fixture, "item").count == 3)
        }
    }

    @Test func whatIsNotAsDeclaredIsTold() async throws {
        let schema = """
            CREATE TABLE t (id integer PRIMARY KEY, flag boolean, made text GENERATED ALWAYS AS ('x') STORED,
                size double precision, name uuid, code text);
            CREATE VIEW v AS SELECT id FROM t;
            """
        try await TablesFixture.with(schema) { (fixture) async throws in
            let definitions = [
                TableSchema(
                    name: "T",
                    columns: [
                        .init(name: "id", type: "TEXT"), .init(name: "flag", type: "INTEGER"),
                        .init(name: "made", type: "TEXT"), .init(name: "size", type: "INTEGER"),
                        .init(name: "name", type: "TEXT"), .init(name: "code", type: "REAL", isDeclared: false),
                    ], key: ["code"], scope: ["shop"], place: KeyPlace(path: "file: t")),
                TableSchema(
                    name: "v", columns: [.init(name: "id", type: "INTEGER")], key: [], place: KeyPlace(path: "file: v")),
            ]
            let expected = [
                "file: t: the mapping gives column 'id' of table 't' the type text, and the store has it as integer; "
                    + "change the mapping's type, or the column's: " + TableMigration.advice(for: nil),
                "file: t: the column 'made' of table 't' is generated by the database; leave it out of the mapping",
                "file: t: the mapping gives column 'size' of table 't' the type bigint, and the store has it as double "
                    + "precision; change the mapping's type, or the column's: " + TableMigration.advice(for: nil),
                "file: t: table 't' has no column 'shop', which 'scope' names; run ALTER TABLE \"t\" ADD COLUMN \"shop\" "
                    + "text, and give the existing rows their value, or leave it out of the scope",
                "file: t: the mapping's key of table 't' is (code), which no unique index covers; the table's primary key "
                    + "is (id); \(TableMigration.advice(for: nil)); or run CREATE UNIQUE INDEX ON \"t\" (\"code\"), or name the key that the table has",
                "file: v: 'v' is a view, and rows are merged into tables only; write to a table, and let a trigger on it "
                    + "fill 'v'",
            ]
            #expect(try fixture.store.differences(from: definitions).map(\.description) == expected)
            let error = #expect(throws: StoreError.self) { try fixture.store.prepareTables(definitions) }
            #expect(error?.message == expected.joined(separator: "\n"))
        }
    }

    @Test func referencesAreChecked() async throws {
        let schema =
            "CREATE TABLE t (id integer PRIMARY KEY, name text); CREATE TABLE p (a integer, b text, PRIMARY KEY (a, b))"
        try await TablesFixture.with(schema) { (fixture) async throws in
            func reference(_ table: String, _ column: String, unique: Bool = false) -> ReferenceDefinition {
                ReferenceDefinition(
                    table: table, column: column, set: [], needsUniqueColumn: unique, place: KeyPlace(path: "f"))
            }
            try fixture.store.checkReferences([reference("T", "NAME"), reference("t", "id", unique: true)])
            let references = [
                reference("none", "a"), reference("t", "x"), reference("p", "a"), reference("t", "name", unique: true),
            ]
            let error = #expect(throws: StoreError.self) { try fixture.store.checkReferences(references) }
            #expect(
                error?.message == """
                    f: there is no table 'none'; map it, create it in the schema, or sync first the source that maps it
                    f: table 't' has no column 'x'; it has id, name
                    f: the primary key of table 'p' is not one column, and cannot be stored in one
                    f: missing = "create" needs a unique index on 'name' of table 't'; run CREATE UNIQUE INDEX ON "t" ("name")
                    """)
        }
    }

    @Test func namesThatPostgresCannotKeep() async throws {
        try await TablesFixture.with { (fixture) async throws in
            let long = String(repeating: "ä", count: 32)
            let definition = TableSchema(
                name: "t", columns: [.init(name: long, type: "TEXT")], key: [], place: KeyPlace(path: "f"))
            let error = #expect(throws: StoreError.self) { try fixture.store.prepareTables([definition]) }
            #expect(error?.message == "f: the name '\(long)' has 64 bytes, and PostgreSQL takes 63; shorten it")
            let lost = TableSchema(
                name: "t", columns: [.init(name: "a", type: nil, references: "none")], key: [],
                place: KeyPlace(path: "f"))
            let other = #expect(throws: StoreError.self) { try fixture.store.prepareTables([lost]) }
            #expect(other?.message.contains("refers to table 'none', which does not exist") == true)
            #expect(try fixture.store.tables().isEmpty)
        }
    }

    @Test func twoDaemonsPrepareTheSameTables() async throws {
        try await TablesFixture.with { (fixture) async throws in
            let definitions = (0..<8).map { index in
                TableSchema(
                    name: "t\(index)",
                    columns: types + [.init(name: "up", type: nil, references: "t\((index + 1) % 8)")],
                    key: ["Key A"], indexes: [["day"]], place: KeyPlace(path: "f"))
            }
            let url = fixture.database.connectionString
            try await withThrowingTaskGroup(of: Void.self) { group in
                for turn in 0..<6 {
                    group.addTask {
                        let store = try PostgresStore(url: url, workFolder: "/tmp")
                        let order = turn.isMultiple(of: 2) ? definitions : definitions.reversed()
                        try store.prepareTables(order)
                        try store.prepare(
                            schema:
                                "CREATE TABLE IF NOT EXISTS p (id text PRIMARY KEY); CREATE INDEX IF NOT EXISTS p_i ON p (id)",
                            tables: ["p"])
                        try store.close()
                    }
                }
                try await group.waitForAll()
            }
            #expect(try fixture.store.tables().count == 9)
            let indexes = try fixture.rows("SELECT count(*) FROM pg_indexes WHERE schemaname = 'public'")
            #expect(Int(indexes[0]) ?? 0 >= 18)
        }
    }

    @Test func aParsersSchema() async throws {
        let first = """
            CREATE TABLE IF NOT EXISTS feed (id text PRIMARY KEY, title text);
            CREATE TABLE IF NOT EXISTS entry (feed text NOT NULL REFERENCES feed, id bigint, PRIMARY KEY (feed, id));
            """
        let second = """
            CREATE TABLE IF NOT EXISTS feed (id text PRIMARY KEY, title text, size bigint DEFAULT 7);
            CREATE INDEX IF NOT EXISTS feed_size ON feed (size);
            CREATE TABLE IF NOT EXISTS entry (feed text NOT NULL REFERENCES feed, id bigint, PRIMARY KEY (feed, id));
            """
        try await TablesFixture.with { (fixture) async throws in
            let store = fixture.store
            #expect(try !store.isPrepared(schema: first, tables: ["feed", "entry"]))
            try store.prepare(schema: first, tables: ["feed", "entry"])
            #expect(try store.isPrepared(schema: first, tables: ["feed", "entry"]))
            try fixture.execute("INSERT INTO feed VALUES ('a', 'b')")
            #expect(try !store.isPrepared(schema: second, tables: ["feed", "entry"]))
            try store.prepare(schema: second, tables: ["feed", "entry"])
            #expect(try columns(fixture, "feed") == ["id text NOT NULL", "title text", "size bigint"])
            #expect(try fixture.rows("SELECT count(*) FROM pg_indexes WHERE indexname = 'feed_size'") == ["1"])
            #expect(try fixture.rows("SELECT * FROM feed") == ["a|b|NULL"])
            let temporary = try store.ask {
                try $0.execute("SELECT count(*) FROM pg_class WHERE relpersistence = 't'")[0].int(0)
            }
            #expect(temporary == 0)
            let error = #expect(throws: StoreError.self) {
                try store.prepare(schema: "SELECT 1;\nCREATE x", tables: ["x"])
            }
            #expect(error?.message.hasPrefix("the tables of the parser cannot be created: ") == true)
            #expect(error?.message.contains("line 2") == true)
            let committing = "CREATE TABLE IF NOT EXISTS feed (id text); COMMIT"
            let other = #expect(throws: StoreError.self) { try store.isPrepared(schema: committing, tables: ["feed"]) }
            #expect(other?.message.contains("begins or ends a transaction") == true)
        }
    }

    @Test func viewsThatCannotBeRead() async throws {
        let schema = """
            CREATE FUNCTION f() RETURNS integer LANGUAGE sql AS 'SELECT 1'; CREATE VIEW good AS SELECT f();
            CREATE SCHEMA other; CREATE VIEW other.hidden AS SELECT 1;
            """
        try await TablesFixture.with(schema) { (fixture) async throws in
            try fixture.store.checkViews()
            try fixture.execute("REVOKE SELECT ON good FROM PUBLIC")
            try fixture.store.checkViews()
        }
    }

    /// What a type would lose or refuse is an error; a type that keeps the values is the owner's choice.
    @Test func typesThatKeepTheValues() async throws {
        let types = [
            "bigint", "integer", "numeric", "double precision", "boolean", "date", "timestamp", "timestamptz", "time",
            "uuid", "jsonb", "text",
        ]
        let columns = types.map { "\"\($0)\" \($0)" }.joined(separator: ", ")
        try await TablesFixture.with("CREATE TABLE t (\(columns))") { (fixture) async throws in
            func refused(_ type: String, _ word: String) throws -> [String] {
                let definition = TableSchema(
                    name: "t", columns: types.map { .init(name: $0, type: type, word: word) }, key: [],
                    place: KeyPlace(path: "f"))
                let problems = try fixture.store.differences(from: [definition])
                return types.filter { type in problems.contains { $0.finding.text.contains("column '\(type)'") } }
            }
            #expect(
                try refused("TEXT", "text")
                    == [
                        "bigint", "integer", "numeric", "double precision", "boolean", "date", "timestamp",
                        "timestamptz",
                    ])
            #expect(
                try refused("", "decimal")
                    == [
                        "bigint", "double precision", "boolean", "date", "timestamp", "timestamptz", "time", "uuid",
                        "jsonb",
                    ])
            #expect(
                try refused("INTEGER", "integer")
                    == [
                        "double precision", "boolean", "date", "timestamp", "timestamptz", "time", "uuid", "jsonb",
                        "text",
                    ])
            #expect(
                try refused("TEXT", "datetime")
                    == [
                        "bigint", "integer", "numeric", "double precision", "boolean", "date", "time", "uuid", "jsonb",
                    ])
            #expect(
                try refused("TEXT", "date")
                    == ["bigint", "integer", "numeric", "double precision", "boolean", "time", "uuid", "jsonb"])
        }
    }
}
