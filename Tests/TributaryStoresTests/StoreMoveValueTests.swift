import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine
import TributaryStores

/// Values that stores show differently, or that one of them cannot hold.
@Suite(.enabled(if: StoreKind.postgres.isAvailable)) struct StoreMoveValueTests {
    typealias Direction = StoreMoveFixture.Direction

    private static let source = EngineFixture.request("/items", "sync = \"mirror\"")

    private func withItems(
        _ direction: Direction, _ body: (StoreMoveFixture) async throws -> Void
    ) async throws {
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            fixture.server.document("/items", EngineFixture.items(["1", "2", "3"]), etag: "\"i\"")
            try await fixture.sync(Self.source, of: fixture.old)
            try await body(fixture)
        }
    }

    @Test func aTextThatPostgreSQLCannotHoldIsNamed() async throws {
        try await withItems(Direction(old: .sqlite, new: .postgres)) { (fixture) async throws in
            try fixture.old.store.execute("UPDATE item SET name = 'a' || char(0) WHERE id = '2'")
            try await fixture.expectRefusal(Self.source, "table 'item'", "column 'name'", "U+0000", "(id = '2')")
            #expect(fixture.new.count("item", "tributary_run") == 0)
        }
    }

    @Test(arguments: Direction.all) func validatorsOfRowsThatAreGoneStayBehind(direction: Direction) async throws {
        try await withItems(direction) { (fixture) async throws in
            try fixture.old.store.execute("DELETE FROM item")
            try await fixture.move(Self.source)
            let reports = try await fixture.sync(Self.source, of: fixture.new)
            #expect(reports.first?.counts.inserted == 3, "\(reports)")
            #expect(fixture.server.requests("/items").last?.headers["if-none-match"] == nil)
        }
    }

    @Test func aKeyOfBytesIsATextInTheServersChangelog() async throws {
        try await withItems(Direction(old: .sqlite, new: .postgres)) { (fixture) async throws in
            try fixture.old.store.execute("UPDATE tributary_change SET key = x'00ff' WHERE id = 2")
            let report = try await fixture.move(Self.source)
            #expect(report.changes == 3)
            #expect(try fixture.new.rows("SELECT key FROM tributary_change ORDER BY id") == ["1", "\\x00ff", "3"])
        }
    }

    /// Infinity is a key like others.
    @Test(arguments: Direction.all) func infiniteKeys(direction: Direction) async throws {
        try await StoreMoveFixture.with(direction) { (fixture) async throws in
            for side in [fixture.old, fixture.new] {
                try side.folder.write(
                    side.kind.sql("CREATE TABLE IF NOT EXISTS size (id REAL PRIMARY KEY NOT NULL, name TEXT);"),
                    to: "schema.sql")
            }
            let source = """
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "size"
                element = "item"
                key = ["id"]
                columns = { id = { path = "@id", type = "real" }, name = "@name" }
                """
            fixture.server.document(
                "/a", "<items><item id='INF' name='a'/><item id='-INF' name='b'/><item id='1.5' name='c'/></items>")
            let first = try await fixture.sync(source, of: fixture.old).first
            #expect(first?.counts.inserted == 3, "\(first?.error ?? "")")
            let report = try await fixture.move(source)
            #expect(report.changes == 3)
            #expect(try fixture.new.rows("SELECT name FROM size ORDER BY id") == ["b", "c", "a"])
            let again = try await fixture.sync(source, of: fixture.new, mode: .full).first
            #expect(again?.counts.unchanged == 3 && again?.error == nil, "\(again?.error ?? "")")
        }
    }

    /// A move that fails leaves nothing that it has made.
    @Test func tablesOfAMoveThatFails() async throws {
        try await withItems(Direction(old: .sqlite, new: .postgres)) { (fixture) async throws in
            let mapped = """
                [[sources.t.requests]]
                url = "URL/items"
                tables = [{ table = "mapped", element = "item", key = ["id"], columns = { id = "@id", name = "name" } }]

                """
            try await fixture.sync(Self.source + mapped, of: fixture.old)
            try fixture.old.store.execute("UPDATE item SET name = 'a' || char(0) WHERE id = '2'")
            let error = await #expect(throws: StoreError.self) { try await fixture.move(Self.source + mapped) }
            #expect(error?.message.contains("U+0000") == true && error?.message.contains("remain") == false)
            let names = try fixture.new.rows(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace")
            // Those of the schema are the user's.
            #expect(Set(names) == ["company", "item", "node", "numbered"])
        }
    }

    @Test func aValueThatIsNoneOfTheColumnsTypeIsNamed() async throws {
        try await withItems(Direction(old: .sqlite, new: .postgres)) { (fixture) async throws in
            // SQLite keeps it as text.
            try fixture.old.store.execute("UPDATE item SET size = 'many' WHERE id = '3'")
            try await fixture.expectRefusal(Self.source, "table 'item'", "column 'size'", "\"many\"", "(id = '3')")
        }
    }

    @Test func aNumberThatSQLiteDoesNotHaveIsNamed() async throws {
        try await withItems(Direction(old: .postgres, new: .sqlite)) { (fixture) async throws in
            try fixture.old.store.execute("ALTER TABLE item ADD COLUMN weight REAL")
            let schema = StoreMoveFixture.schema.replacing(
                "name TEXT, size INTEGER,", with: "name TEXT, size INTEGER, weight REAL,")
            try fixture.new.folder.write(schema, to: "schema.sql")
            try fixture.old.store.execute("UPDATE item SET weight = 'NaN' WHERE id = '2'")
            try await fixture.expectRefusal(Self.source, "table 'item'", "column 'weight'", "NaN")
            try fixture.old.store.execute("UPDATE item SET weight = 'Infinity' WHERE id = '2'")
            try await fixture.move(Self.source)
            #expect(try fixture.new.rows("SELECT weight FROM item WHERE id = '2'") == ["inf"])
        }
    }

    @Test func aRowThatATriggerDropsIsNoticed() async throws {
        try await withItems(Direction(old: .postgres, new: .sqlite)) { (fixture) async throws in
            let trigger = """
                CREATE TRIGGER IF NOT EXISTS drop_item AFTER INSERT ON item WHEN new.id = '2'
                BEGIN DELETE FROM item WHERE id = '2'; END;
                """
            try fixture.new.folder.write(StoreMoveFixture.schema + trigger, to: "schema.sql")
            try await fixture.expectRefusal(
                Self.source, "table 'item' has 2 rows, and 3 were read", "nothing was moved")
            #expect(fixture.new.count("item", "tributary_run") == 0)
        }
    }

    @Test func typesOfTheServersOwnComeBackAsTheyWere() async throws {
        let own = """
            CREATE TABLE IF NOT EXISTS item (
                id varchar(20) PRIMARY KEY, name text, size integer, company text, code char(5), seen timestamptz, at timestamp, day date,
                price numeric(10, 2), small real, is_new boolean, data jsonb, mark uuid, raw bytea, list text[]);
            """
        let simple = """
            CREATE TABLE IF NOT EXISTS item (
                id TEXT PRIMARY KEY, name TEXT, size INTEGER, company TEXT, code TEXT, seen TEXT, at TEXT, day TEXT, price, small REAL,
                is_new INTEGER, data TEXT, mark TEXT, raw BLOB, list TEXT);
            """
        let values = """
            UPDATE item SET code = 'ab', seen = '2026-11-21 08:30:00.123456+02', at = '1999-12-31 23:59:59', day = '-infinity',
                price = 1.5, small = 0.1, is_new = true, data = '{"b": [1, 2.50], "a": "ä/"}',
                mark = '0192F1C0-0000-7000-8000-000000000001', raw = '\\x0001ff', list = '{a,"b c",NULL}' WHERE id = '1'
            """
        try await StoreMoveFixture.with(Direction(old: .postgres, new: .sqlite)) { (fixture) async throws in
            try fixture.old.folder.write(own, to: "schema.sql")
            try fixture.new.folder.write(simple, to: "schema.sql")
            fixture.server.document("/items", EngineFixture.items(["1", "2"]), etag: "\"i\"")
            let reports = try await fixture.sync(Self.source, of: fixture.old)
            #expect(reports.map(\.outcome) == [.committed], "\(reports)")
            try fixture.old.store.execute(values)
            try await fixture.move(Self.source)
            let found = try fixture.new.rows(
                "SELECT code, seen, at, day, price, is_new, mark, list FROM item WHERE id = '1'")
            let expected =
                "ab|2026-11-21T06:30:00.123456Z|1999-12-31T23:59:59|-infinity|1.5|1|"
                + "0192f1c0-0000-7000-8000-000000000001|{a,\"b c\",NULL}"
            #expect(found == [expected], "\(found)")
            let back = StoreMoveFixture(server: fixture.server, old: fixture.new, new: fixture.old)
            let question = "SELECT * FROM item ORDER BY id"
            let before = try fixture.old.rows(question)
            try fixture.old.store.execute(
                "DROP TABLE item, tributary_run, tributary_change, tributary_source, tributary_request, tributary_host, "
                    + "tributary_claim, tributary_daemon, tributary_acceptance, "
                    + "tributary_hook, tributary_hook_source, tributary_login, tributary_schema, tributary_refresh, "
                    + "tributary_listing, tributary_rejected, "
                    + "tributary_migration")
            try await back.move(Self.source)
            #expect(try fixture.old.rows(question) == before)
        }
    }

    @Test func tablesThatReferToEachOtherNeedAKeyThatCanWait() async throws {
        try await StoreMoveFixture.with(Direction(old: .sqlite, new: .postgres)) { (fixture) async throws in
            let circle = """
                CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, name TEXT, size INTEGER, company TEXT REFERENCES company(id));
                CREATE TABLE IF NOT EXISTS company (id TEXT PRIMARY KEY, name TEXT REFERENCES item(id));
                """
            let onServer = """
                CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, name TEXT, size INTEGER, company TEXT);
                CREATE TABLE IF NOT EXISTS company (id TEXT PRIMARY KEY, name TEXT REFERENCES item(id));
                DO $$ BEGIN
                    IF NOT EXISTS (SELECT FROM pg_constraint WHERE conrelid = 'item'::regclass AND contype = 'f') THEN
                        ALTER TABLE item ADD FOREIGN KEY (company) REFERENCES company(id) /* DEFERRABLE */;
                    END IF;
                END $$;
                """
            try fixture.old.folder.write(circle, to: "schema.sql")
            try fixture.new.folder.write(onServer, to: "schema.sql")
            let source =
                "[[sources.s.requests]]\nurl = \"URL/c\"\nparser = \"CompaniesParser\"\n"
                + EngineFixture.request("/i")
            fixture.server.document("/c", "<c><company id='c' name='1'/></c>")
            fixture.server.document("/i", "<items><item id='1' company='c'/></items>")
            let reports = try await fixture.sync(source, of: fixture.old)
            #expect(reports.first?.outcome == .committed, "\(reports)")
            try await fixture.expectRefusal(source, "'company', 'item'", "DEFERRABLE")
            try fixture.new.store.execute("DROP TABLE item, company")
            try fixture.new.folder.write(
                onServer.replacing("/* DEFERRABLE */", with: "DEFERRABLE"), to: "schema.sql")
            let report = try await fixture.move(source)
            #expect(report.tables.map(\.rows) == [1, 1])
        }
    }

    @Test func whatIsInterruptedInTheMiddleLeavesNothing() async throws {
        try await withItems(Direction(old: .sqlite, new: .postgres)) { (fixture) async throws in
            // Each row waits for a lock that the test holds.
            let lock = "hashtext(current_schema())"
            let waiting = """
                CREATE OR REPLACE FUNCTION pause() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM pg_advisory_xact_lock(\(lock));
                    RETURN NEW;
                END $$;
                CREATE OR REPLACE TRIGGER pause BEFORE INSERT ON item FOR EACH ROW EXECUTE FUNCTION pause();
                """
            try fixture.new.folder.write(StoreKind.postgres.sql(StoreMoveFixture.schema) + waiting, to: "schema.sql")
            try fixture.new.store.execute("SELECT pg_advisory_lock(\(lock))")
            let stop = Stop()
            let moving = Task { try await fixture.move(Self.source, stop: stop) }
            let waits = "SELECT 1 FROM pg_locks WHERE NOT granted AND objid::bigint = \(lock)::bigint & 4294967295"
            while try fixture.new.rows(waits).isEmpty { try await Task.sleep(for: .milliseconds(10)) }
            stop.request()
            try fixture.new.store.execute("SELECT pg_advisory_unlock(\(lock))")
            await #expect(throws: CancellationError.self) { try await moving.value }
            #expect(fixture.new.count("item", "tributary_run", "tributary_source", "tributary_request") == 0)
        }
    }
}
