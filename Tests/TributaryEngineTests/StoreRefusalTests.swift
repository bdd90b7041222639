import FeedModel
import Foundation
import PostgresStore
import PostgresServer
import TestEngine
import Testing

@testable import TributaryEngine

/// A server that refuses, for a reason that somebody can mend. The run says which, the store stays as it was, and the daemon
/// goes on by itself once it is mended.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct StoreRefusalTests {
    /// - Parameter cause: makes the server refuse.
    private func expectDiscarded(
        _ fixture: DatabaseFixture, says: [String], cause: () throws -> Void, mend: () throws -> Void
    ) async throws {
        try await fixture.withDaemon { (daemon) async throws in
            try cause()
            for _ in 0..<2 {
                let report = try await daemon.run("b")
                #expect(report.outcome == .discarded)
                let error = report.error ?? ""
                for text in says + [fixture.database.name] {
                    let isSaid = error.contains(text)
                    #expect(isSaid, "'\(text)' is not in: \(error)")
                }
                #expect(!error.contains("s3cr3t"), "\(error)")
                #expect(report.nextDue.map { $0.timeIntervalSince(report.startedAt) < 150 } ?? false)
            }
            try fixture.expectStack("a", commits: 1)
            try mend()
            var report = try await daemon.run("b")
            // By a session that was opened before, to record the run that failed.
            if report.outcome == .discarded { report = try await daemon.run("b") }
            #expect(report.outcome == .committed, "\(report)")
            try fixture.expectStack("b", commits: 2)
        }
    }

    @Test func statementTimeout() async throws {
        try await DatabaseFixture.with { (fixture) async throws in
            try await expectDiscarded(fixture, says: ["cannot be written", "see statement_timeout"]) {
                try fixture.execute(
                    """
                    ALTER DATABASE \(fixture.database.name) SET statement_timeout = '500ms';
                    CREATE FUNCTION sleep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                        PERFORM pg_sleep(CASE WHEN current_setting('statement_timeout') = '0' THEN 0 ELSE 60 END);
                        RETURN NULL;
                    END $$;
                    CREATE TRIGGER sleep AFTER UPDATE ON item FOR EACH STATEMENT EXECUTE FUNCTION sleep();
                    """)
                try fixture.endSessions()
            } mend: {
                // The sessions that are open do not hear of it.
                try fixture.execute("ALTER DATABASE \(fixture.database.name) RESET statement_timeout")
            }
            let discarded =
                "SELECT count(*) >= 2 FROM tributary_run WHERE outcome = 'discarded' AND error LIKE '%statement_timeout%'"
            #expect(try fixture.rows(discarded) == ["t"])
        }
    }

    /// As a server that was demoted, or one that an administrator keeps from growing.
    @Test func sessionsThatOnlyRead() async throws {
        try await DatabaseFixture.with { (fixture) async throws in
            let name = fixture.database.name
            try await expectDiscarded(fixture, says: ["connect to the primary", "default_transaction_read_only"]) {
                try fixture.execute("ALTER DATABASE \(name) SET default_transaction_read_only = on")
                try fixture.endSessions()
            } mend: {
                try fixture.database.server.connect().execute(
                    "ALTER DATABASE \(name) RESET default_transaction_read_only")
            }
        }
    }

    @Test func aPasswordThatWasChanged() async throws {
        try await DatabaseFixture.with { (fixture) async throws in
            var fixture = fixture
            let role = "login_\(fixture.database.name)"
            try fixture.execute(
                """
                CREATE ROLE \(role) LOGIN PASSWORD 's3cr3t' IN ROLE needs_password;
                ALTER DATABASE \(fixture.database.name) OWNER TO \(role)
                """)
            let database = fixture.database
            fixture.url = database.server.connectionString(database: database.name, user: role) + " password=s3cr3t"
            try await expectDiscarded(fixture, says: ["check the user and the password", role]) {
                try fixture.execute("ALTER ROLE \(role) PASSWORD 'other'")
                try fixture.endSessions()
            } mend: {
                try fixture.execute("ALTER ROLE \(role) PASSWORD 's3cr3t'")
            }
            try fixture.execute("REASSIGN OWNED BY \(role) TO postgres; DROP OWNED BY \(role); DROP ROLE \(role)")
        }
    }

    enum Place: CaseIterable {
        /// Where the table is that the rows are merged into.
        case store
        /// Where rows are copied to first.
        case temporary
    }

    @Test(arguments: Place.allCases) func aDiskThatIsFull(place: Place) async throws {
        try await DatabaseFixture.with(own: PostgresServer.Options()) { (fixture) async throws in
            guard try fixture.database.server.makeSmallTablespace(megabytes: 2) else {
                try Test.cancel("this user may not mount a small file system")
            }
            var fixture = fixture
            fixture.items = 2_000
            let name = fixture.database.name
            try await expectDiscarded(fixture, says: ["cannot grow", "make room on the server's disk"]) {
                switch place {
                case .store: try fixture.execute("ALTER TABLE item SET TABLESPACE small")
                case .temporary:
                    try fixture.execute("ALTER DATABASE \(name) SET temp_tablespaces = small")
                    try fixture.endSessions()
                }
                try fixture.execute(
                    """
                    CREATE TABLE filler (text text) WITH (autovacuum_enabled = off) TABLESPACE small;
                    DO $$ BEGIN
                        LOOP INSERT INTO filler VALUES (repeat('x', 1000)); END LOOP;
                    EXCEPTION WHEN disk_full THEN END $$;
                    """)
            } mend: {
                try fixture.execute("DROP TABLE filler")
            }
        }
    }
}
