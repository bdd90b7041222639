import Foundation
import Testing

@testable import PostgresStore

/// Transactions that take turns at the tables they write.
@Suite struct TableTurnTests {
    @Test func whoeverCameFirstGoesFirstAtEachTable() async throws {
        let turns = TableTurns()
        let first = TableTurn(turns)
        try first.take(["a", "b"])
        let other = TableTurn(turns)
        try other.take(["c"])
        let second = Task { try await onThread { try Self.time(of: turns, ["b", "d"]) } }
        while turns.waiting < 1 { try await Task.sleep(for: .milliseconds(2)) }
        // "d" is free, but the second waits for it, and came before the third.
        let third = Task { try await onThread { try Self.time(of: turns, ["d"]) } }
        while turns.waiting < 2 { try await Task.sleep(for: .milliseconds(2)) }
        let end = ContinuousClock.now
        first.end()
        let times = [end, try await second.value, try await third.value]
        #expect(times == times.sorted())
        other.end()
    }

    /// Returns when a turn at these tables was granted.
    private static func time(of turns: TableTurns, _ tables: [String]) throws -> ContinuousClock.Instant {
        let turn = TableTurn(turns)
        defer { turn.end() }
        try turn.take(tables)
        return .now
    }

    @Test func anInterruptionEndsTheWait() async throws {
        let turns = TableTurns()
        let first = TableTurn(turns)
        try first.take(["a"])
        let interruption = CommitInterruption()
        let waits = Task {
            try await onThread {
                let turn = TableTurn(turns, interruption)
                defer { turn.end() }
                try turn.take(["a"])
            }
        }
        while turns.waiting == 0 { try await Task.sleep(for: .milliseconds(2)) }
        interruption.request()
        await #expect(throws: CancellationError.self) { try await waits.value }
        #expect(turns.waiting == 0)
        first.end()
        let next = TableTurn(turns)
        try next.take(["a"])
        next.end()
    }
}
