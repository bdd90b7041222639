import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

/// Small commits beside other transactions.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct ConcurrentCommitTests {
    /// Ends a transaction between the two flights of a commit, on another thread.
    private struct Open {
        let small: SmallCommit
        let connection: PostgresConnection
        let written: SmallCommit.Written

        init(_ stack: StagedStack, _ commit: Commit, _ fixture: SmallCommitFixture) throws {
            small = try SmallCommit(stack, commit, fixture.store)
            connection = try fixture.database.connect()
            written = try small.write(connection)
            // On a busy machine, it stays open for longer than a commit may be silent.
            try connection.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
        }

        func end() throws { try small.end(written, connection) }
    }

    @Test func twoIntoOneTableRunAtOnce() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            try fixture.merge("a", [1: 1])
            try fixture.merge("b", [1: 1])
            let first = try Open(fixture.items("a", [1: 2, 2: 2]), fixture.commit("a"), fixture)
            let second = try Open(fixture.items("b", [2: 3]), fixture.commit("b"), fixture)
            try second.end()
            try first.end()
            #expect(
                try fixture.rows("SELECT feed, id, n FROM item ORDER BY feed, id") == ["a|1|2", "a|2|2", "b|2|3"])
            #expect(try fixture.rows("SELECT count(*) FROM tributary_run") == ["4"])
        }
    }

    /// In one process by its turn, and elsewhere by the lock.
    @Test func aGeneralCommitWaitsForSmallOnes() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            try fixture.merge("a", [1: 1])
            let open = try Open(fixture.items("a", [1: 2]), fixture.commit("a"), fixture)
            let stack = try fixture.items("b", [1: 3])
            let commit = fixture.commit("b")
            // On a thread at once: a task would wait for one of the pool, which other tests may hold for minutes.
            let (reports, report) = AsyncStream<Result<RunReport, any Error>>.makeStream()
            Thread.detachNewThread {
                report.yield(Result { try fixture.merge(stack, commit, .general) })
                report.finish()
            }
            try await fixture.database.waitForWaiting()
            #expect(try fixture.rows("SELECT count(*) FROM tributary_run") == ["1"])
            try open.end()
            for await report in reports { #expect(try report.get().counts.inserted == 1) }
        }
    }

    /// Two sources commit their first rows at once: the second one waits for the table, and then knows of the first.
    @Test func aClaimThatIsWaitedForIsKnown() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            let first = try fixture.database.connect()
            try first.executeScript("BEGIN; LOCK TABLE item IN SHARE ROW EXCLUSIVE MODE")
            try first.ledger().requests.write([request(scope: ["feed": "a"])], of: "b")
            let stack = try fixture.items("a", [1: 1])
            var commit = fixture.commit("a")
            commit.checkMirrors = { _, others, _ in
                throw StoreError(.conflict, "others: \(others.map(\.source).joined(separator: ", "))")
            }
            async let error = onThread { [commit, stack = Unchecked(stack)] in
                message { try fixture.merge(stack.value, commit, .general) }
            }
            try await fixture.database.waitForWaiting()
            try first.execute("COMMIT")
            #expect(try await error == "others: b")
        }
    }

    /// A row that another program inserts, or changes, while the small commit waits for it.
    @Test(arguments: ["INSERT INTO item VALUES ('a', 2, 7)", "DELETE FROM item WHERE id = 1"])
    func rowsOfOthersSendItTheGeneralWay(change: String) async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            try fixture.merge("a", [1: 1])
            let other = try fixture.database.connect()
            try other.executeScript("BEGIN; \(change)")
            let stack = try fixture.items("a", [1: 5, 2: 5])
            let commit = fixture.commit("a")
            let small = try SmallCommit(stack, commit, fixture.store)
            let connection = try fixture.database.connect()
            async let unsuitable = onThread { [connection = Unchecked(connection), small = Unchecked(small)] in
                _ = #expect(throws: Unsuitable.self) { _ = try small.value.write(connection.value) }
            }
            try await fixture.database.waitForWaiting()
            try other.execute("COMMIT")
            try await unsuitable
            #expect(try fixture.merge(stack, commit).counts.replaced == 0)
            #expect(try fixture.rows("SELECT id, n FROM item ORDER BY id") == ["1|5", "2|5"])
        }
    }

    @Test func anInterruptionEndsItsWait() async throws {
        try await SmallCommitFixture.with(SmallCommitFixture.items) { (fixture) async throws in
            try fixture.merge("a", [1: 1])
            let other = try fixture.database.connect()
            try other.executeScript("BEGIN; UPDATE item SET n = 9")
            let stack = try fixture.items("a", [1: 5])
            let commit = fixture.commit("a")
            let stop = Stop()
            async let error = message {
                _ = try await fixture.store.commit(commit, merging: stack, stop: stop) { 0 }
            }
            try await fixture.database.waitForWaiting()
            stop.request()
            #expect(await error == "\(CancellationError())")
            try other.execute("ROLLBACK")
            #expect(try fixture.rows("SELECT n FROM item") == ["1"])
        }
    }

    @Test func aLostConnectionAndADeadlockAreTriedAgain() async throws {
        try await SmallCommitFixture.with(
            SmallCommitFixture.items + """
                ; CREATE SEQUENCE calls;
                CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                    IF nextval('calls') = 2 THEN RAISE EXCEPTION 'once' USING ERRCODE = '40P01'; END IF;
                    IF currval('calls') = 3 THEN PERFORM pg_terminate_backend(pg_backend_pid()); END IF;
                    RETURN NEW;
                END $$
                """
        ) { (fixture) async throws in
            try fixture.execute(
                "CREATE TRIGGER fail AFTER INSERT ON tributary_run FOR EACH ROW EXECUTE FUNCTION fail()")
            try fixture.merge("a", [1: 1])
            #expect(try fixture.merge("a", [1: 2], .small).counts.updated == 1)
            #expect(try fixture.rows("SELECT last_value FROM calls") == ["4"])
            #expect(try fixture.rows("SELECT source, updated FROM tributary_run ORDER BY id") == ["a|0", "a|1"])
        }
    }

    /// The server has committed, and its answer does not arrive.
    @Test func anUnansweredCommitIsFoundOut() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().executeScript(SmallCommitFixture.items)
            let counter = try RoundTripCounter(to: database)
            defer { counter.stop() }
            let store = try PostgresStore(url: counter.connectionString(database: database.name), workFolder: "/tmp")
            let fixture = SmallCommitFixture(database: database, store: store)
            try fixture.merge("a", [1: 1])
            for (number, flight) in [(2, 1), (3, 2)] {
                let stack = try fixture.items("a", [1: number])
                store.notifier.flush()
                counter.dropAnswer(toRoundTrip: counter.roundTrips + flight)
                #expect(try fixture.merge(stack, fixture.commit("a"), .small).counts.updated == 1)
            }
            #expect(try fixture.rows("SELECT n FROM item") == ["3"])
            #expect(try fixture.rows("SELECT updated FROM tributary_run ORDER BY id") == ["0", "1", "1"])
            #expect(
                try fixture.rows("SELECT operation FROM tributary_change ORDER BY id") == [
                    "insert", "update", "update",
                ])
            try store.close()
        }
    }
}

/// For values that one thread after another uses.
private struct Unchecked<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}
