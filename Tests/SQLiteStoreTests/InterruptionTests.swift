import FeedModel
import Foundation
import GRDB
import Testing

@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// An interruption discards the commit, whenever it is requested.
@Suite struct InterruptionTests {
    private func commit(
        to fixture: StoreFixture, usesScratch: Bool = false, _ stop: Stop,
        _ seconds: @escaping @Sendable () -> Double = { 0 }
    ) async throws {
        let context = fixture.store.makeWorkerContext(source: "s")
        defer { context.remove() }
        context.beginRequest(0, rule: MergeRule())
        for id in 0..<10 { try context.insert(into: "item", ["id": "\(id)"]) }
        if usesScratch { try context.flush() }
        let commit = Commit(
            report: RunReport(source: "s", outcome: .committed, startedAt: Date()), requests: [],
            state: SourceState(source: "s", outcome: .committed))
        _ = try await fixture.store.commit(
            commit, merging: context.finish(), stop: stop, seconds: seconds)
    }

    private func expectUnchanged(_ fixture: StoreFixture) async throws {
        #expect(try fixture.rows("SELECT (SELECT count(*) FROM item), (SELECT count(*) FROM tributary_run)") == ["0|0"])
        // The next run is none of its concern.
        try await commit(to: fixture, Stop())
        #expect(try fixture.rows("SELECT count(*) FROM item") == ["10"])
    }

    /// `sqlite3_interrupt` ends nothing then.
    @Test(arguments: [false, true]) func betweenTwoStatements(usesScratch: Bool) async throws {
        try await StoreFixture.with("CREATE TABLE item (id TEXT PRIMARY KEY)") { (fixture) async throws in
            let stop = Stop()
            await #expect(throws: CancellationError.self) {
                try await commit(to: fixture, usesScratch: usesScratch, stop) {
                    stop.request()
                    return 0
                }
            }
            try await expectUnchanged(fixture)
        }
    }

    /// SQLite forgets it at the statement after the one that waits.
    @Test func whileItWaitsForTheLock() async throws {
        try await StoreFixture.with("CREATE TABLE item (id TEXT PRIMARY KEY)") { (fixture) async throws in
            var configuration = Configuration()
            configuration.allowsUnsafeTransactions = true
            let other = try DatabaseQueue(path: fixture.store.path, configuration: configuration)
            try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
            let stop = Stop()
            let committing = Task { try await commit(to: fixture, stop) }
            while !stop.hasWork { await Task.yield() }
            stop.request()
            try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
            await #expect(throws: CancellationError.self) { try await committing.value }
            try other.close()
            try await expectUnchanged(fixture)
        }
    }

    /// A statement that would take minutes.
    @Test func withinAStatement() async throws {
        let schema = """
            CREATE TABLE item (id TEXT PRIMARY KEY);
            CREATE TRIGGER slow AFTER INSERT ON item BEGIN
                SELECT max(a.value + b.value)
                FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 1000000) SELECT value FROM n) a,
                    (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n LIMIT 1000000) SELECT value FROM n) b;
            END;
            """
        try await StoreFixture.with(schema) { (fixture) async throws in
            let stop = Stop()
            let committing = Task { try await commit(to: fixture, stop) }
            while !stop.hasWork { await Task.yield() }
            stop.request()
            await #expect(throws: CancellationError.self) { try await committing.value }
            try await fixture.store.pool.write { try $0.execute(sql: "DROP TRIGGER slow") }
            try await expectUnchanged(fixture)
        }
    }
}
