import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

/// Commits that end otherwise than by an answer to COMMIT, or by many failures.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct SettlingTests {
    /// Whether something has ended, for loops that would else wait for what cannot come any more.
    private final class End: Sendable {
        let hasCome = Mutex(false)
        var isThere: Bool { hasCome.withLock(\.self) }
    }

    /// Whoever asks a standby that is behind would learn that a run was not recorded, and record it twice.
    @Test func aStandbyIsNotAskedForTheOutcomeOfACommit() async throws {
        try await withReplicatedServers { (primary, standby) async throws in
            let hosts = "host=\(primary.folder),\(standby.folder) dbname=postgres user=postgres"
            let store = try PostgresStore(url: hosts, workFolder: "/tmp", settlingTime: .seconds(600))
            let (observer, other) = (try primary.connect(), try standby.connect())
            try observer.executeScript(
                """
                CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM set_config('synchronous_commit', 'remote_apply', true);
                    RETURN NULL;
                END $$;
                CREATE TRIGGER wait AFTER INSERT ON tributary_run FOR EACH STATEMENT EXECUTE FUNCTION wait();
                """)
            try other.execute("SELECT pg_wal_replay_pause()")
            while try other.execute("SELECT pg_get_wal_replay_pause_state()")[0].string(0) != "paused" {}
            let end = End()
            let commit = Task {
                defer { end.hasCome.withLock { $0 = true } }
                return try await store.commit(.of("s"), merging: .empty, stop: Stop()) { 0 }
            }
            let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            while try !end.isThere && observer.execute(waiting).isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            let sessions = "SELECT sum(sessions) FROM pg_stat_database"
            let before = try other.execute(sessions)[0].int64(0) ?? 0
            try primary.stop(.immediate)
            // The store connects anew for each question.
            while try !end.isThere && other.execute(sessions)[0].int64(0) ?? 0 < before + 3 {
                try await Task.sleep(for: .milliseconds(2))
            }
            #expect(!end.isThere)
            try other.execute("SELECT pg_wal_replay_resume()")
            try primary.start()
            _ = try await commit.value
            #expect(try store.read { try $0.runs.last(limit: 9) }.map(\.source) == ["s"])
            try store.close()
        }
    }

    /// The server's process waits for a standby that does not exist, or does nothing at all: it takes no signal.
    @Test(arguments: [false, true]) func aCommitThatWaitsEndsWithTheProgram(isStopped: Bool) async throws {
        var options = PostgresServer.Options()
        options.settings = ["synchronous_standby_names = 'nobody'", "synchronous_commit = local"]
        try await withPostgresServer(options) { (server) async throws in
            let store = try PostgresStore(url: server.connectionString(), workFolder: "/tmp")
            let observer = try server.connect()
            try observer.executeScript(
                """
                CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM set_config('synchronous_commit', 'on', true);
                    RETURN NULL;
                END $$;
                CREATE TRIGGER wait AFTER INSERT ON tributary_run FOR EACH STATEMENT EXECUTE FUNCTION wait();
                """)
            async let commit = message {
                _ = try await store.commit(.of("s"), merging: .empty, stop: Stop()) { 0 }
            }
            let waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
            var process: Int64?
            while process == nil {
                process = try observer.execute(waiting).first?.int64(0)
                try await Task.sleep(for: .milliseconds(2))
            }
            if isStopped { kill(Int32(try #require(process)), SIGSTOP) }
            store.stopWaiting()
            let error = await commit
            if isStopped {
                #expect(error?.contains("cannot be found out: its transaction has not ended") == true, "\(error ?? "")")
                kill(Int32(try #require(process)), SIGCONT)
            } else {
                #expect(error == nil)
                #expect(try server.connect().execute("SELECT source FROM tributary_run").count == 1)
            }
            try store.close()
        }
    }

    @Test func aServerThatStaysAwayLeavesItOpen() async throws {
        try await withPostgresServer { (server) async throws in
            let store = try PostgresStore(
                url: server.connectionString(), workFolder: "/tmp", settlingTime: .milliseconds(100))
            try server.stop(.immediate)
            let run = RecordedRun(id: 7, transaction: "1", source: "s", startedAt: Date())
            let error = message { _ = try store.isRecorded(run) }
            let parts = ["lost while it committed run 7 of 's'", "cannot be found out", "check that the server runs"]
            for part in parts { #expect(error?.contains(part) == true, "\(error ?? "")") }
            try server.start()
            #expect(try !store.isRecorded(run))
            try store.close()
        }
    }

    @Test(arguments: ["40001", "40P01"]) func aConflictThatNeverEndsIsGivenUp(state: String) async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            try database.connect().executeScript(
                """
                CREATE SEQUENCE calls;
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM nextval('calls');
                    RAISE EXCEPTION 'never' USING ERRCODE = '\(state)';
                END $$;
                CREATE TRIGGER refuse AFTER INSERT ON tributary_run FOR EACH ROW EXECUTE FUNCTION refuse();
                """)
            let error = message {
                let commit = StackCommit(
                    store: store, stop: Stop(), pauses: [0.001, 0.001, 0.001]
                ) { try $0.record(.of("s"), merging: .empty, seconds: { 0 }) }
                _ = try commit.run()
            }
            #expect(error?.contains("cannot be written: never (\(state))") == true, "\(error ?? "")")
            #expect(error?.contains("another transaction was in the way") == true)
            #expect(try database.rows("SELECT last_value FROM calls") == ["4"])
            #expect(try store.read { try $0.runs.last(limit: 9) }.isEmpty)
            try store.close()
        }
    }
}
