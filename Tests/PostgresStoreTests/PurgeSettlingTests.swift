import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

/// Purges that end otherwise than by an answer to COMMIT.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct PurgeSettlingTests {
    private static func purge() -> Purge {
        var commit = Commit.of("s", outcome: .committed, forgotten: ["1"])
        commit.report.kind = .purge
        return Purge(
            source: "s", mirrored: [ScopedRows(table: "thing", scope: [:])], commit: commit)
    }

    /// The transaction is committed, but its client does not hear of it. Done again, it would find no source.
    @Test func aPurgeThatNobodyAnsweredIsLookedFor() async throws {
        try await withPostgresServer { (server) async throws in
            let store = try PostgresStore(
                url: server.connectionString(), workFolder: "/tmp",
                schema: "CREATE TABLE IF NOT EXISTS thing (id text PRIMARY KEY)")
            let observer = try server.connect()
            try await store.record(.of("s", [request(tables: ["thing"])]))
            try observer.execute("INSERT INTO thing VALUES ('a'), ('b')")
            let claim = try #require(try store.claim("s"))
            try observer.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
            try observer.execute("SELECT pg_reload_conf()")
            while try observer.execute("SHOW synchronous_standby_names")[0].string(0) != "nobody" {}
            async let report = onThread { try store.purge(Self.purge(), isTrial: false) }
            try await onThread {
                let observer = try server.connect()
                let end = "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                while try observer.execute(end).isEmpty {}
            }
            try observer.execute("ALTER SYSTEM RESET synchronous_standby_names")
            try observer.execute("SELECT pg_reload_conf()")
            let purged = try await report
            #expect(purged.tables.map(\.deleted) == [2])
            #expect(try observer.execute("SELECT 1 FROM tributary_run WHERE kind = 'purge'").count == 1)
            #expect(try observer.execute("SELECT 1 FROM thing").isEmpty)
            claim.unlock()
            try store.close()
        }
    }

    @Test func aPurgeIsRepeatedAfterAConflict() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: "CREATE TABLE IF NOT EXISTS thing (id text PRIMARY KEY)")
            try database.connect().executeScript(
                """
                INSERT INTO thing VALUES ('a');
                CREATE SEQUENCE calls;
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('calls') = 1 THEN RAISE EXCEPTION 'not now' USING ERRCODE = '40P01'; END IF;
                    RETURN NULL;
                END $$;
                CREATE TRIGGER refuse AFTER DELETE ON thing FOR EACH ROW EXECUTE FUNCTION refuse();
                """)
            let trial = try store.purge(Self.purge(), isTrial: true)
            #expect(trial.run.counts.deleted == 1)
            #expect(try database.rows("SELECT id FROM thing") == ["a"])
            #expect(try store.purge(Self.purge(), isTrial: false).run.counts.deleted == 1)
            #expect(try database.rows("SELECT id FROM thing").isEmpty)
            #expect(try store.read { try $0.runs.last(limit: 9) }.count == 1)
            try store.close()
        }
    }
}

/// Rows that several transactions change are locked in one order.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct RequestLockTests {
    @Test func validatorsAreForgottenInOneOrder() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            // Where they lie is not their order.
            for source in ["c", "b", "a"] {
                try await store.record(.of(source, [request(etag: "\"1\"")]))
            }
            let other = try database.connect()
            try other.executeScript("BEGIN; SELECT 1 FROM tributary_request WHERE source = 'a' FOR UPDATE")
            let forgetting = Task.detached {
                try store.transact { connection in
                    try connection.ledger().requests.forgetValidators(
                        of: Set(["a", "b", "c"].map { RequestID(source: $0, key: "1") }))
                }
            }
            try await database.waitForWaiting()
            // It waits for the first, and has none of the others.
            #expect(
                try database.rows(
                    "SELECT source FROM tributary_request WHERE source > 'a' ORDER BY 1 FOR UPDATE NOWAIT")
                    == ["b", "c"])
            try other.execute("COMMIT")
            try await forgetting.value
            #expect(try database.rows("SELECT count(*) FROM tributary_request WHERE etag IS NULL") == ["3"])
            try store.close()
        }
    }
}
