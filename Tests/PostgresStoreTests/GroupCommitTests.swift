import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

@Suite(.enabled(if: PostgresServer.isAvailable)) struct GroupCommitTests {
    @Test func writesThatWaitShareATransaction() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let holder = try database.connect()
            try holder.executeScript("BEGIN; LOCK TABLE tributary_source IN ACCESS EXCLUSIVE MODE")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    group.addTask { try await store.record(.of("s\(number)")) }
                }
                try await database.waitForWaiting()
                try holder.execute("ROLLBACK")
                try await group.waitForAll()
            }
            let transactions = try database.rows(
                "SELECT count(*), count(DISTINCT xmin::text) < 100 FROM tributary_source")
            #expect(transactions == ["100|t"])
            try store.close()
        }
    }

    @Test func aWriteThatFailsFailsAlone() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let source = number == 10 ? "s\0" : "s\(number)"
                        let error = await message { try await store.record(.of(source)) }
                        #expect((error == nil) == (number != 10), "\(error ?? "")")
                        if number == 10 { #expect(error?.contains("U+0000") == true, "\(error ?? "")") }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try database.rows("SELECT count(*), count(DISTINCT source) FROM tributary_run") == ["19|19"])
            try store.close()
        }
    }

    /// The sessions that write are ended again and again.
    @Test func noRunIsRecordedTwiceOrLost() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            try database.connect().executeScript(
                """
                CREATE SEQUENCE tries;
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    -- At every other COMMIT, so that a repeated one succeeds.
                    IF nextval('tries') % 2 = 1 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
                    RETURN NULL;
                END $$;
                CREATE CONSTRAINT TRIGGER fail AFTER INSERT ON tributary_run DEFERRABLE INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION fail();
                """)
            for number in 0..<5 { try await store.record(.of("s\(number)")) }
            #expect(try database.rows("SELECT count(*), count(DISTINCT source) FROM tributary_run") == ["5|5"])
            #expect(try database.rows("SELECT last_value FROM tries") == ["10"])
            try store.close()
        }
    }

    /// The transaction is committed, but its client does not hear of it.
    @Test func aCommitThatNobodyAnsweredIsLookedFor() async throws {
        try await withPostgresServer { (server) async throws in
            let store = try PostgresStore(url: server.connectionString(), workFolder: "/tmp")
            let observer = try server.connect()
            for usesStack in [false, true] {
                try observer.execute("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
                try observer.execute("SELECT pg_reload_conf()")
                while try observer.execute("SHOW synchronous_standby_names")[0].string(0) != "nobody" {}
                let commit = Commit.of("s\(usesStack)")
                async let end: Void = {
                    guard usesStack else { return try await store.record(commit) }
                    _ = try await store.commit(commit, merging: .empty, stop: Stop()) { 0 }
                }()
                try await onThread {
                    let observer = try server.connect()
                    let end =
                        "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
                    while try observer.execute(end).isEmpty {}
                }
                try observer.execute("ALTER SYSTEM RESET synchronous_standby_names")
                try observer.execute("SELECT pg_reload_conf()")
                try await end
            }
            #expect(try store.read { try $0.runs.last(limit: 9) }.map(\.source) == ["strue", "sfalse"])
            try store.close()
        }
    }
}
