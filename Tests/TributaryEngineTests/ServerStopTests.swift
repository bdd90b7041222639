import FeedModel
import Foundation
import PostgresStore
import PostgresServer
import TestEngine
import Testing

@testable import TributaryEngine

/// The server, or only a session, ends in the middle of a stack's commit. The stack is there whole, once, as the run
/// says.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct ServerStopTests {
    enum End: CaseIterable {
        /// Of the session alone (`pg_terminate_backend`).
        case terminated
        case stopped, crashed, killed

        /// Ends the session that waits for an event. The server is there again when this returns.
        func happen(to fixture: DatabaseFixture, waitingFor event: String) throws {
            let server = fixture.database.server
            switch self {
            case .terminated:
                try fixture.execute(
                    """
                    SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                    WHERE datname = current_database() AND wait_event = '\(event)'
                    """)
                return
            case .stopped: try server.stop(.fast)
            case .crashed: try server.stop(.immediate)
            case .killed: try server.kill()
            }
            try server.start()
        }
    }

    /// A trigger's function that waits for an advisory lock, at one of its calls and never again.
    private static func hold(at call: Int) -> String {
        """
        CREATE SEQUENCE calls;
        CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
            IF nextval('public.calls') = \(call) THEN PERFORM pg_advisory_xact_lock(1); END IF;
            RETURN NEW;
        END $$;
        """
    }

    /// A trigger on each temporary table from its creation on, and so in the middle of the COPY.
    private static let holdCOPY =
        hold(at: 1_000) + """
            CREATE FUNCTION watch() RETURNS event_trigger LANGUAGE plpgsql AS $$ DECLARE made record; BEGIN
                FOR made IN SELECT * FROM pg_event_trigger_ddl_commands()
                WHERE object_type = 'table' AND schema_name = 'pg_temp' LOOP
                    EXECUTE format('CREATE TRIGGER hold BEFORE INSERT ON %s FOR EACH ROW EXECUTE FUNCTION public.hold()',
                        made.object_identity);
                END LOOP;
            END $$;
            CREATE EVENT TRIGGER watch ON ddl_command_end WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION watch();
            """

    private static let holdCOMMIT =
        hold(at: 1) + """
            CREATE CONSTRAINT TRIGGER hold AFTER UPDATE ON company DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION hold();
            """

    /// - Parameter schema: makes a session wait for an advisory lock in the middle of something.
    private func expectRepeated(_ schema: String, _ end: End, items: Int) async throws {
        try await DatabaseFixture.with(own: PostgresServer.Options()) { (fixture) async throws in
            var fixture = fixture
            fixture.items = items
            let first = try await fixture.sync("a")
            #expect(first.outcome == .committed, "\(first)")
            try fixture.execute(schema)
            let holder = try fixture.database.connect()
            try holder.execute("SELECT pg_advisory_lock(1)")
            async let second = fixture.sync("b")
            try await fixture.waitForSession(waitingFor: "advisory")
            try fixture.expectStack("a", commits: 1)
            try end.happen(to: fixture, waitingFor: "advisory")
            holder.close()
            let report = try await second
            #expect(report.outcome == .committed && report.error == nil, "\(report)")
            #expect(report.counts.updated == items + 5)
            try fixture.expectStack("b", commits: 2)
            #expect(try fixture.rows("SELECT 1 FROM tributary_source WHERE holder IS NOT NULL").isEmpty)
        }
    }

    /// Rows that are more than the socket's buffers hold, so that the client is still writing.
    @Test(arguments: End.allCases) func inTheMiddleOfCOPY(end: End) async throws {
        try await expectRepeated(Self.holdCOPY, end, items: 5_000)
    }

    /// Before the transaction was recorded as committed.
    @Test(arguments: End.allCases) func inTheMiddleOfCOMMIT(end: End) async throws {
        try await expectRepeated(Self.holdCOMMIT, end, items: 20)
    }

    /// After the transaction was recorded as committed, and before its client heard of it: a standby that does not exist is
    /// waited for.
    @Test(arguments: End.allCases) func atTheEndOfCOMMIT(end: End) async throws {
        var options = PostgresServer.Options()
        options.settings = ["synchronous_standby_names = 'nobody'", "synchronous_commit = local"]
        try await DatabaseFixture.with(own: options) { (fixture) async throws in
            let first = try await fixture.sync("a")
            #expect(first.outcome == .committed, "\(first)")
            try fixture.execute(
                """
                CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    PERFORM set_config('synchronous_commit', 'on', true);
                    RETURN NULL;
                END $$;
                CREATE TRIGGER wait AFTER UPDATE ON company FOR EACH STATEMENT EXECUTE FUNCTION wait();
                """)
            async let second = fixture.sync("b")
            try await fixture.waitForSession(waitingFor: "SyncRep")
            try end.happen(to: fixture, waitingFor: "SyncRep")
            let report = try await second
            #expect(report.outcome == .committed && report.error == nil, "\(report)")
            #expect(report.counts.updated == 25)
            try fixture.expectStack("b", commits: 2)
            // The next run knows what the last one recorded.
            let third = try await fixture.sync("b")
            #expect(third.outcome == .unchanged, "\(third)")
        }
    }

    /// A source is not put off until its next due time because the server was away when it was due.
    @Test func aDaemonGoesOnSoonAfterTheServerWasAway() async throws {
        try await DatabaseFixture.with(own: PostgresServer.Options()) { (fixture) async throws in
            let server = fixture.database.server
            try await fixture.withDaemon { (daemon) async throws in
                try server.stop(.immediate)
                let discarded = try await daemon.run("b")
                #expect(discarded.outcome == .discarded)
                let error = discarded.error ?? ""
                #expect(error.contains("check that the server runs"), "\(error)")
                let due = try #require(discarded.nextDue).timeIntervalSince(discarded.startedAt)
                #expect(due > 0 && due <= 75, "\(due)")
                try server.start()
                let committed = try await daemon.run("b")
                #expect(committed.outcome == .committed, "\(committed)")
                try fixture.expectStack("b", commits: 2)
            }
        }
    }
}
