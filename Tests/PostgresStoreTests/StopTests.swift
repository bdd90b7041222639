import FeedModel
import Foundation
import PostgresServer
@testable import PostgresStore
import Testing

/// Requests to stop, and the work that they end.
@Suite struct StopTests {
    private struct Failed: Error {}

    @Test func workIsCancelledUntilItHasEnded() throws {
        let stop = Stop()
        let calls = Mutex(0)
        let isOver = DispatchSemaphore(value: 0)
        let work = Stop.Work(
            cancel: {
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                // The first one comes between two statements.
                if call == 2 { isOver.signal() }
            }, end: { isOver.signal() })
        #expect(throws: CancellationError.self) {
            try stop.whileStoppable(work) {
                stop.request()
                isOver.wait()
                throw Failed()
            }
        }
        #expect(calls.withLock(\.self) > 0)
        #expect(!stop.hasWork)
    }

    @Test func workThatCannotBeCancelledIsEnded() throws {
        let stop = Stop()
        let isOver = DispatchSemaphore(value: 0)
        #expect(throws: Failed.self) {
            try stop.whileInProgress(Stop.Work(cancel: {}, end: { isOver.signal() })) {
                stop.request()
                isOver.wait()
                throw Failed()
            }
        }
    }

    @Test func afterARequestNothingBegins() throws {
        let stop = Stop()
        let ends = Mutex(0)
        let work = Stop.Work(end: { ends.withLock { $0 += 1 } })
        stop.request()
        #expect(throws: CancellationError.self) { try stop.check() }
        #expect(throws: CancellationError.self) { try stop.whileStoppable(work) { Issue.record("it began") } }
        #expect(throws: CancellationError.self) { try stop.wait(for: DispatchSemaphore(value: 0)) }
        // The caller hears of it from the work itself.
        stop.whileInProgress(work) {}
        #expect(ends.withLock(\.self) == 1)
    }

    /// A commit that took place is none that was stopped.
    @Test func aBodyThatSucceedsReturns() throws {
        let stop = Stop()
        let value = try stop.whileStoppable(Stop.Work(end: {})) {
            stop.request()
            return 7
        }
        #expect(value == 7)
    }

    /// Within its time, work goes on and may begin. The first request counts.
    @Test func aRequestMayLeaveTime() throws {
        let stop = Stop()
        let ends = Mutex(0)
        let work = Stop.Work(end: { ends.withLock { $0 += 1 } })
        let id = stop.add(work)
        stop.request(within: .seconds(60))
        let deadline = stop.deadline
        stop.request()
        stop.whileInProgress(work) {}
        #expect(stop.isRequested && stop.deadline == deadline)
        #expect(ends.withLock(\.self) == 0)
        stop.remove(id)
    }
}

/// The store's own stop.
@Suite(.enabled(if: PostgresServer.isAvailable), .timeLimit(.minutes(5))) struct StoreStopTests {
    private func expectEnd(
        ofWaitFor table: String, _ body: @escaping @Sendable (PostgresStore) throws -> Void
    ) async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: "CREATE TABLE IF NOT EXISTS a (id integer PRIMARY KEY)")
            let holder = try database.connect()
            try holder.executeScript("BEGIN; LOCK TABLE \(table) IN ACCESS EXCLUSIVE MODE")
            async let waits = message { try await onThread { try body(store) } }
            try await database.waitForWaiting()
            store.stopWaiting()
            #expect(await waits != nil)
            try holder.execute("ROLLBACK")
            try store.close()
        }
    }

    /// Each would else wait for two minutes.
    @Test func waitsOfAllKindsEnd() async throws {
        try await expectEnd(ofWaitFor: "a") { store in
            try store.snapshot(lock: LockLimits.commit, within: .work) { _ = try $0.execute("SELECT FROM a") }
        }
        try await expectEnd(ofWaitFor: "a") { store in
            _ = try store.planning { transaction in
                try transaction.connection.execute("LOCK TABLE a")
                return MergeCounts()
            }
        }
        try await expectEnd(ofWaitFor: "a") { try $0.execute(schema: "LOCK TABLE a") }
    }
}
