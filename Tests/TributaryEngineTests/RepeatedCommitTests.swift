import FeedModel
import PostgresStore
import PostgresServer
import TestEngine
import Testing

@testable import TributaryEngine

/// Transactions that other transactions are in the way of. The commit is repeated from the staged rows.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct RepeatedCommitTests {
    enum Conflict: String, CaseIterable {
        case serializationFailure = "40001"
        case deadlock = "40P01"
    }

    /// - Parameter isDeferred: true for a failure that only COMMIT reports.
    @Test(arguments: Conflict.allCases, [false, true])
    func aCommitIsRepeatedAfterAConflict(conflict: Conflict, isDeferred: Bool) async throws {
        try await DatabaseFixture.with { (fixture) async throws in
            let first = try await fixture.sync("a")
            #expect(first.outcome == .committed, "\(first)")
            try fixture.execute(
                """
                CREATE SEQUENCE calls;
                CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('calls') <= 2 THEN
                        RAISE EXCEPTION 'not now' USING ERRCODE = '\(conflict.rawValue)';
                    END IF;
                    RETURN NULL;
                END $$;
                CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON item
                \(isDeferred ? "DEFERRABLE INITIALLY DEFERRED" : "") FOR EACH ROW EXECUTE FUNCTION refuse();
                """)
            let second = try await fixture.sync("b")
            #expect(second.outcome == .committed && second.error == nil, "\(second)")
            #expect(second.counts.updated == 25)
            try fixture.expectStack("b", commits: 2)
            // Two calls that failed, and one for each row of the third attempt.
            #expect(try fixture.rows("SELECT last_value FROM calls") == ["22"])
        }
    }

    /// Another session locks tables in the opposite order, and is chosen to win.
    @Test func aDeadlockEndsWithBothCommitted() async throws {
        try await DatabaseFixture.with { (fixture) async throws in
            let first = try await fixture.sync("a")
            #expect(first.outcome == .committed, "\(first)")
            try fixture.execute(
                """
                CREATE TABLE audit (text text);
                CREATE SEQUENCE calls;
                CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('calls') = 1 THEN
                        -- The other session, which has locked `audit`, waits for `item`, which this one has locked.
                        WHILE NOT EXISTS (
                            SELECT 1 FROM pg_locks WHERE relation = 'item'::regclass AND NOT granted) LOOP END LOOP;
                        SET LOCAL deadlock_timeout = '10ms';
                    END IF;
                    INSERT INTO audit VALUES (TG_TABLE_NAME);
                    RETURN NULL;
                END $$;
                CREATE TRIGGER note AFTER UPDATE ON item FOR EACH STATEMENT EXECUTE FUNCTION note();
                """)
            let other = try fixture.database.connect()
            try other.executeScript("SET deadlock_timeout = '1h'; BEGIN; LOCK TABLE audit")
            async let second = fixture.sync("b")
            let held =
                "SELECT 1 FROM pg_locks WHERE relation = 'item'::regclass AND granted AND mode LIKE '%Exclusive%'"
            while try other.execute(held).isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            try other.execute("LOCK TABLE item")
            #expect(try fixture.rows("SELECT last_value, is_called FROM calls") == ["1|t"])
            try other.execute("COMMIT")
            let report = try await second
            #expect(report.outcome == .committed && report.error == nil, "\(report)")
            try fixture.expectStack("b", commits: 2)
            #expect(try fixture.rows("SELECT count(*) FROM audit") == ["1"])
        }
    }
}
