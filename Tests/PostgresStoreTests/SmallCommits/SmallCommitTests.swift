import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

/// Small stacks, which are committed in two round trips.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct SmallCommitTests {
    @Test func aSmallCommitIsTwoRoundTrips() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().executeScript(SmallCommitFixture.items)
            let counter = try RoundTripCounter(to: database)
            defer { counter.stop() }
            let store = try PostgresStore(
                url: counter.connectionString(database: database.name), workFolder: "/tmp")
            let fixture = SmallCommitFixture(database: database, store: store)
            #expect(try fixture.merge("a", [1: 1, 2: 2]).counts == MergeCounts(inserted: 2))
            try fixture.merge("a", [1: 1, 2: 2])
            for number in 3...5 {
                let stack = try fixture.items("a", [1: number, 2: 2])
                store.notifier.flush()
                let before = counter.roundTrips
                let report = try fixture.merge(stack, fixture.commit("a"))
                #expect(report.counts == MergeCounts(updated: 1, unchanged: 1))
                store.notifier.flush()
                // And one more for the notification, on whichever connection.
                #expect(counter.roundTrips - before == 3)
            }
            try store.close()
        }
    }

    @Test func rowsAreInsertedUpdatedAndDeleted() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            try fixture.merge("a", [1: 1, 2: 2, 3: 3, 4: nil])
            try fixture.merge("b", [1: 1])
            // Of two rows with one key the last counts.
            let report = try fixture.merge("a", [3: 3, 5: 5, 2: 9, 4: 4, 2: 7], .small)
            var counts = MergeCounts(inserted: 1, updated: 2, deleted: 1, unchanged: 1)
            counts.replaced = 1
            #expect(report.counts == counts)
            let items = ["a|2|7", "a|3|3", "a|4|4", "a|5|5", "b|1|1"]
            #expect(try fixture.rows("SELECT feed, id, n FROM item ORDER BY feed, id") == items)
            #expect(
                try fixture.rows("SELECT key, operation FROM tributary_change WHERE run = 3 ORDER BY id") == [
                    #"["a",1]|delete"#, #"["a",4]|update"#, #"["a",2]|update"#, #"["a",5]|insert"#,
                ])
            let run = """
                SELECT outcome, inserted, updated, deleted, unchanged, replaced,
                    (SELECT min(id) FROM tributary_change c WHERE c.run = r.id) = first_change,
                    (SELECT max(id) FROM tributary_change c WHERE c.run = r.id) = last_change
                FROM tributary_run r WHERE id = 3
                """
            #expect(try fixture.rows(run) == ["committed|1|2|1|1|1|t|t"])
            // A feed without rows goes the general way.
            #expect(throws: SmallCommitFixture.NotSmall.self) { try fixture.merge("b", [:], .small) }
            #expect(try fixture.merge("b", [:]).counts == MergeCounts(deleted: 1))
            #expect(try fixture.rows("SELECT DISTINCT feed FROM item") == ["a"])
        }
    }

    @Test func whatIsNotForItIsCommittedTheGeneralWay() async throws {
        try await SmallCommitFixture.with(
            SmallCommitFixture.items + """
                ; CREATE TABLE note (id text PRIMARY KEY, item text UNIQUE, kind text);
                CREATE TABLE child (id text PRIMARY KEY, note text REFERENCES note ON DELETE CASCADE);
                CREATE DOMAIN short AS text CHECK (length(value) < 9);
                CREATE TABLE word (id short PRIMARY KEY, kind text);
                """
        ) { (fixture) async throws in
            func reason(_ stack: StagedStack, _ commit: Commit) -> String? {
                do { _ = try SmallCommit(stack, commit, fixture.store) } catch { return (error as? Unsuitable)?.reason }
                return nil
            }
            let items = try fixture.items("a", [1: 1])
            let other = Unsuitable("requests that claim other rows than before")
            var commit = fixture.commit("a")
            commit.changesClaims = true
            #expect(reason(items, commit) == other.reason)
            try fixture.merge(items, fixture.commit("a"))
            #expect(reason(items, fixture.commit("a")) == nil)
            // It is found out, too.
            commit = fixture.commit("a")
            commit.requests[0].scope = [:]
            let small = try SmallCommit(items, commit, fixture.store)
            #expect(throws: other) { _ = try small.write(fixture.database.connect()) }
            commit = fixture.commit("a")
            commit.keepsHistory = true
            #expect(reason(items, commit) == "a history")
            commit = fixture.commit("a")
            commit.retention.deletionMarks = ["item": "title"]
            #expect(reason(items, commit) == "rows that are marked or expire")

            func stack(_ table: String, _ rule: MergeRule = MergeRule(), _ kind: String = "x") throws -> StagedStack {
                try fixture.stack(rule) { try $0.insert(into: table, ["id": "1", "kind": kind]) }
            }
            let note = Commit.of("n", [request(tables: ["note"])], outcome: .committed)
            try fixture.merge(stack("note"), note)
            #expect(reason(try stack("note"), note) == nil)
            #expect(
                reason(try stack("note", MergeRule(sync: .mirror)), note)
                    == "deletions that other tables' rows depend on")
            let unique = try fixture.stack(MergeRule()) { try $0.insert(into: "note", ["id": "1", "item": "x"]) }
            #expect(reason(unique, note) == "another unique index")
            let missing = try fixture.stack(MergeRule()) { try $0.insert(into: "note", ["id": nil, "kind": "x"]) }
            #expect(reason(missing, note) == "a missing value")
            let many = try fixture.stack(MergeRule()) { context in
                for id in 0...SmallCommit.mostRows { try context.insert(into: "note", ["id": "\(id)", "kind": "x"]) }
            }
            #expect(reason(many, note) == "1001 rows")

            let both = Commit.of("n", [request(tables: ["note", "word"])], outcome: .committed)
            try fixture.merge(stack("note"), both)
            #expect(reason(try stack("note"), both) == "several tables")

            let word = Commit.of("w", [request(tables: ["word"])], outcome: .committed)
            try fixture.merge(stack("word"), word)
            #expect(reason(try stack("word"), word) == "the type of column 'id'")
        }
    }

    /// Who has written rows that a mirror deletes, or claims rows by a column that is written, is asked of the store.
    @Test func claimsOfOthersSendItTheGeneralWay() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            func reason(_ stack: StagedStack, _ commit: Commit) throws -> String? {
                let small = try SmallCommit(stack, commit, fixture.store)
                do {
                    let connection = try fixture.database.connect()
                    _ = try small.write(connection)
                    connection.rollBack()
                    return nil
                } catch let error as Unsuitable { return error.reason }
            }
            func claim(_ source: String, _ scope: [String: String]?) throws {
                let ledger = try fixture.database.connect().ledger()
                if let scope { return try ledger.requests.write([request(scope: scope)], of: source) }
                try fixture.execute("DELETE FROM tributary_request; DELETE FROM tributary_claim WHERE source <> 'a'")
                try ledger.requests.write([request(scope: ["feed": "a"])], of: "a")
            }
            try fixture.merge("a", [1: 1])
            let mirror = try (stack: fixture.items("a", [1: 2]), commit: fixture.commit("a"))
            for number in 0..<20 { try claim("s\(number)", ["feed": "\(number)"]) }
            #expect(try reason(mirror.stack, mirror.commit) == nil)
            try claim("b", ["FEED": "a"])
            #expect(try reason(mirror.stack, mirror.commit) == "rows that other requests have written")
            try claim("b", ["n": "1"])
            #expect(try reason(mirror.stack, mirror.commit) == "rows that other requests have written")
            try claim("b", nil)
            let upsert = try fixture.stack(MergeRule(sync: .upsert, scope: ["feed": "a"])) {
                try $0.insert(into: "item", ["feed": "a", "id": 1, "n": 3])
            }
            let commit = Commit.of("a", [request(scope: ["feed": "a"])], outcome: .committed)
            #expect(try reason(upsert, commit) == nil)
            try claim("b", ["title": "x"])
            #expect(try reason(upsert, commit) == nil)
            try claim("c", ["N": "1", "feed": "c"])
            #expect(try reason(upsert, commit) == "scopes by columns that are written")
        }
    }

    /// Errors have the words of the general way, and limits the same figures.
    @Test func whatGoesWrongIsToldTheGeneralWay() async throws {
        try await SmallCommitFixture.with(
            """
            CREATE TABLE shop (id text PRIMARY KEY);
            CREATE TABLE sale (
                id integer PRIMARY KEY, shop text REFERENCES shop, price numeric(5,2) CHECK (price >= 0), code varchar(3));
            INSERT INTO shop VALUES ('a');
            """
        ) { (fixture) async throws in
            let commit = Commit.of("s", [request(tables: ["sale"])], outcome: .committed)
            func sale(_ price: String, shop: String = "a", code: String? = nil, id: String = "1") throws -> StagedStack
            {
                try fixture.stack(MergeRule()) {
                    try $0.insert(into: "sale", ["id": id, "shop": shop, "price": price, "code": code])
                }
            }
            try fixture.merge(sale("1"), commit)
            #expect(try fixture.merge(sale("2.005", code: "äöü"), commit, .small).counts.updated == 1)
            #expect(try fixture.rows("SELECT price, code FROM sale") == ["2.01|äöü"])
            #expect(try fixture.merge(sale("2.01", code: "äöü"), commit, .small).counts.unchanged == 1)
            let wrong = [
                try sale("-1"), try sale("1000"), try sale("cheap"), try sale("1", shop: "b"),
                try sale("1", code: "long"),
                try sale("1", id: "x"),
            ]
            for stack in wrong {
                let own = message { try fixture.merge(stack, commit, .either) }
                let general = message { try fixture.merge(stack, commit, .general) }
                #expect(own != nil)
                #expect(own == general)
                #expect(throws: SmallCommitFixture.NotSmall.self) { try fixture.merge(stack, commit, .small) }
            }
            #expect(try fixture.rows("SELECT count(*) FROM tributary_run") == ["3"])
            #expect(try fixture.rows("SELECT id, price FROM sale") == ["1|2.01"])
        }
    }

    @Test func limitsOfChangesHoldTheCommitBack() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            try fixture.merge("a", [1: 1, 2: 2, 3: 3])
            var commit = fixture.commit("a")
            let rows = ScopedRows(table: "item", scope: ["feed": "a"])
            commit.limits = [rows: ChangeLimits(deleted: .rows(1), changed: .rows(1))]
            let gone = try fixture.items("a", [1: 1])
            let error = message { try fixture.merge(gone, commit) }
            #expect(error?.contains("delete 2 of the 3 rows of table 'item'") == true, "\(error ?? "")")
            #expect(throws: SmallCommitFixture.NotSmall.self) { try fixture.merge(gone, commit, .small) }
            let changed = try fixture.items("a", [1: 7, 2: 7, 3: 7])
            #expect(
                message { try fixture.merge(changed, commit) }
                    == message { try fixture.merge(changed, commit, .general) })
            let allowed = try fixture.items("a", [1: 7, 2: 2])
            #expect(
                try fixture.merge(allowed, commit, .small).counts == MergeCounts(updated: 1, deleted: 1, unchanged: 1))
        }
    }

    @Test func triggersPoliciesAndNewDefinitionsAreNoticed() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            try fixture.merge("a", [1: 1])
            try fixture.merge("a", [1: 2], .small)
            let stack = try fixture.items("a", [1: 3])
            let commit = fixture.commit("a")
            for (change, undo) in [
                (
                    """
                    CREATE FUNCTION nothing() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
                    CREATE TRIGGER nothing BEFORE UPDATE ON item FOR EACH ROW EXECUTE FUNCTION nothing()
                    """, "DROP TRIGGER nothing ON item"
                ),
                ("ALTER TABLE item ENABLE ROW LEVEL SECURITY", "ALTER TABLE item DISABLE ROW LEVEL SECURITY"),
                ("ALTER TABLE item ADD COLUMN more text", "SELECT 1"),
            ] {
                let small = try SmallCommit(stack, commit, fixture.store)
                try fixture.execute(change)
                let connection = try fixture.database.connect()
                #expect(throws: Unsuitable.self) { _ = try small.write(connection) }
                #expect(connection.transactionStatus == .idle)
                try fixture.execute(undo)
            }
            #expect(try fixture.merge("a", [1: 3]).counts.updated == 1)
        }
    }

    @Test func whereALeaseIsLostNothingIsCommitted() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            let lease = try #require(try fixture.store.claim("a"))
            try fixture.merge("a", [1: 1])
            try fixture.merge("a", [1: 2], .small)
            let stack = try fixture.items("a", [1: 3])
            try fixture.execute("UPDATE tributary_source SET lease = lease + 1")
            #expect(
                message { try fixture.merge(stack, fixture.commit("a"), .small) }
                    == "the source 'a' is run by another daemon now")
            #expect(try fixture.rows("SELECT n FROM item") == ["2"])
            lease.unlock()
        }
    }

    @Test func validatorsOfItsOwnUnchangedRequestsAreKept() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            var other = request("2", etag: "two", scope: ["feed": "b"])
            var commit = fixture.commit("a", etag: "one")
            commit.requests.append(other)
            try fixture.merge(fixture.items("a", [1: 1]), commit)
            // The second request is unchanged. What the first one has sent has no validators.
            other.schema = try fixture.store.states(of: "a").requests["2"]?.schema
            commit = fixture.commit("a", etag: nil)
            commit.requests.append(other)
            commit.revalidated = ["2": other]
            try fixture.merge(fixture.items("a", [1: 2]), commit, .small)
            #expect(try fixture.rows("SELECT key, etag FROM tributary_request ORDER BY key") == ["1|NULL", "2|two"])
            // Somebody has deleted its rows since it was asked.
            try fixture.execute("UPDATE tributary_request SET etag = NULL WHERE key = '2'")
            try fixture.merge(fixture.items("a", [1: 3]), commit, .small)
            #expect(try fixture.rows("SELECT key, etag FROM tributary_request ORDER BY key") == ["1|NULL", "2|NULL"])
        }
    }
}
