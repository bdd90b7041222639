import FeedModel
import Foundation
import Testing

@testable import PostgresStore

/// Transactions that take turns at the tables they write.
@Suite struct TableTurnTests {
    @Test func whoeverCameFirstGoesFirstAtEachTable() {
        let turns = TableTurns()
        let first = TableTurn(turns, ["a", "b"])
        let other = TableTurn(turns, ["c"])
        let second = TableTurn(turns, ["b", "d"])
        // "d" is free, but the second waits for it, and came before the third.
        let third = TableTurn(turns, ["d"])
        #expect([first, other, second, third].map(\.isGranted) == [true, true, false, false])
        first.end()
        #expect(second.isGranted && !third.isGranted)
        second.end()
        #expect(third.isGranted && turns.waiting == 0)
    }

    @Test func commitsThatLockNoTableShareTheirTurns() {
        let turns = TableTurns()
        let small = [1, 2].map { _ in TableTurn(turns, ["a"], isShared: true) }
        let whole = TableTurn(turns, ["a"])
        let later = TableTurn(turns, ["a"], isShared: true)
        #expect((small + [whole, later]).map(\.isGranted) == [true, true, false, false])
        #expect(!later.serves(["a"], isShared: false) && later.serves(["a"], isShared: true))
        #expect(whole.serves(["a"], isShared: true) && !whole.serves(["a", "b"], isShared: false))
        for turn in small { turn.end() }
        #expect(whole.isGranted && !later.isGranted)
        whole.end()
        #expect(later.isGranted)
    }

    @Test func aTurnIsGrantedToWhoeverWaits() async throws {
        let turns = TableTurns()
        let first = TableTurn(turns, ["a"])
        let second = TableTurn(turns, ["a"])
        let third = TableTurn(turns, ["a"])
        async let waits: Void = second.granted(Stop())
        async let blocks: Void = onThread { try third.wait() }
        first.end()
        try await waits
        second.end()
        try await blocks
    }

    @Test func anInterruptionEndsTheWait() async throws {
        let turns = TableTurns()
        let first = TableTurn(turns, ["a"])
        for blocks in [true, false] {
            let stop = Stop()
            let turn = TableTurn(turns, ["a"])
            let waits = Task {
                if blocks {
                    try await onThread { try turn.wait(stop) }
                } else {
                    try await turn.granted(stop)
                }
            }
            stop.request()
            await #expect(throws: CancellationError.self) { try await waits.value }
            turn.end()
        }
        #expect(turns.waiting == 0)
        first.end()
        #expect(TableTurn(turns, ["a"]).isGranted)
    }
}
