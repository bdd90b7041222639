import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

/// The commit around the merge.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct StackCommitTests {
    @Test func aCommitIsRepeatedOnANewConnection() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let calls = Mutex(0)
            let report = try await store.commit(
                .of("s", outcome: .committed), merging: .empty, stop: Stop()
            ) {
                // Within the transaction.
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if call < 3 { #expect(throws: Never.self) { try database.terminateOthers() } }
                return Double(call)
            }
            #expect(report.seconds == 3)
            #expect(try store.read { try $0.runs.last(limit: 9) }.map(\.seconds) == [3])
            try store.close()
        }
    }

    @Test func aCommitIsGivenUpWhereTheServerStaysAway() async throws {
        try await withPostgresServer { (server) async throws in
            let store = try PostgresStore(url: server.connectionString(), workFolder: "/tmp")
            let error = await message {
                _ = try await store.commit(.of("s"), merging: .empty, stop: Stop()) {
                    try? server.stop(.immediate)
                    return 0
                }
            }
            #expect(error?.contains("cannot be written") == true, "\(error ?? "")")
            try server.start()
            #expect(try store.read { try $0.runs.last(limit: 9) }.isEmpty)
            try store.close()
        }
    }

    @Test func anInterruptionEndsAWaitForALock() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let holder = try database.connect()
            try holder.executeScript("BEGIN; LOCK TABLE tributary_source IN ACCESS EXCLUSIVE MODE")
            let stop = Stop()
            async let commit = message {
                _ = try await store.commit(.of("s"), merging: .empty, stop: stop) { 0 }
            }
            try await database.waitForWaiting()
            stop.request()
            #expect(await commit == "\(CancellationError())")
            try holder.execute("ROLLBACK")
            let again = await message {
                _ = try await store.commit(.of("s"), merging: .empty, stop: stop) { 0 }
            }
            #expect(again == "\(CancellationError())")
            #expect(try store.read { try $0.runs.last(limit: 9) }.isEmpty)
            _ = try await store.commit(.of("s"), merging: .empty, stop: Stop()) { 0 }
            #expect(try store.read { try $0.runs.last(limit: 9) }.count == 1)
            try store.close()
        }
    }

    @Test func anInterruptionBetweenTwoStatementsCommitsNothing() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let stop = Stop()
            let error = await message {
                _ = try await store.commit(.of("s"), merging: .empty, stop: stop) {
                    stop.request()
                    return 0
                }
            }
            #expect(error == "\(CancellationError())")
            #expect(try store.read { try $0.runs.last(limit: 9) }.isEmpty)
            try store.close()
        }
    }

    /// The server does not answer at all.
    @Test func anInterruptionGivesUpASilentServer() async throws {
        try await withPostgresServer { (server) async throws in
            let store = try PostgresStore(url: server.connectionString(), workFolder: "/tmp")
            let stop = Stop()
            let error = await message {
                _ = try await store.commit(.of("s"), merging: .empty, stop: stop) {
                    try? server.pause()
                    stop.request()
                    return 0
                }
            }
            #expect(error == "\(CancellationError())")
            try server.resume()
            #expect(try store.read { try $0.runs.last(limit: 9) }.isEmpty)
            try store.close()
        }
    }

    @Test func waitsForLocksEndWhenTheProgramIsToStop() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let holder = try database.connect()
            try holder.executeScript("BEGIN; LOCK TABLE tributary_source IN ACCESS EXCLUSIVE MODE")
            async let attempt = message {
                try await store.writeInGroup { try $0.sources.recordPause(of: "s", error: "", note: "", now: .now) }
            }
            try await database.waitForWaiting()
            store.stopWaiting()
            // The server gives up by itself, or is asked to, or has nothing left to ask where the machine was busy for
            // seconds: one of the three ends each wait.
            for error in [
                await attempt,
                await message {
                    try await store.writeInGroup { try $0.sources.recordPause(of: "s", error: "", note: "", now: .now) }
                },
            ] {
                let isExpected = ["cannot be written", "stayed locked"].contains { error?.contains($0) ?? false }
                #expect(isExpected, "\(error ?? "no error")")
            }
            try holder.execute("ROLLBACK")
            try store.close()
        }
    }

    /// Messages that are yet to be sent are sent before a store is closed.
    @Test func listenersHearOfCommitsThatChangedRows() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let listener = try database.connect()
            try listener.listen(to: "tributary")
            var report = RunReport(source: "a \"b\"", outcome: .committed, startedAt: Date())
            func notify(_ run: Int64) {
                let run = RecordedRun(id: run, transaction: "", source: report.source, startedAt: report.startedAt)
                store.notifier.notify(report, run: run, in: store)
            }
            notify(6)
            report.counts.deleted = 1
            for run in 7...40 { notify(Int64(run)) }
            let id = store.daemonID
            try store.close()
            var messages: [String] = []
            while messages.count < 34 {
                let new = try listener.notifications(timeout: .seconds(10)).map(\.payload)
                if new.isEmpty { break }
                messages += new
            }
            let expected = (7...40).map { run in
                #"{"daemon":"\#(id)","outcome":"committed","run":\#(run),"source":"a \"b\""}"#
            }
            #expect(messages == expected)
        }
    }

    /// A commit that waits for another one into the same table has no transaction, and takes no thread from others.
    @Test func aCommitWaitsForItsTurnBeforeItsTransaction() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(
                schema: "CREATE TABLE a (id integer PRIMARY KEY); CREATE TABLE b (id integer PRIMARY KEY)",
                connections: 4)
            let holder = try database.connect()
            func stack(_ table: String) throws -> StagedStack {
                let context = WorkerContext(store: store, source: "s")
                defer { context.remove() }
                context.beginRequest(0, rule: MergeRule())
                try context.insert(into: table, ["id": 1])
                return try context.finish()
            }
            let stacks = try (a: stack("a"), b: stack("b"))
            try holder.executeScript("BEGIN; LOCK TABLE a IN SHARE ROW EXCLUSIVE MODE")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<5 {
                    group.addTask {
                        var commit = Commit.of("s\(number)", outcome: .committed)
                        // So that it is no small commit.
                        commit.busyHost = ("https://a.example", Date(), 1)
                        _ = try await store.commit(commit, merging: stacks.a, stop: Stop()) { 0 }
                    }
                }
                while store.tableTurns.waiting < 4 { try await Task.sleep(for: .milliseconds(2)) }
                _ = try await store.commit(
                    .of("t", outcome: .committed), merging: stacks.b, stop: Stop()
                ) { 0 }
                store.notifier.flush()
                let open = try holder.execute(
                    """
                    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL
                    AND pid <> pg_backend_pid()
                    """)[0].int64(0)
                #expect(open == 1)
                try holder.execute("ROLLBACK")
                try await group.waitForAll()
            }
            #expect(try store.read { try $0.runs.last(limit: 9) }.count == 6)
            try store.close()
        }
    }
}
