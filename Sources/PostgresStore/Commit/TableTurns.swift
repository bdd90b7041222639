import Foundation
import Synchronization

/// The turns of this process's commits at the tables that they write. Only one of them then waits for a table's lock, or
/// holds it, at the server: a process that is stopped in that moment holds up the others by one session, not by many.
final class TableTurns: Sendable {
    fileprivate final class Waiter: Sendable {
        let tables: Set<String>
        let granted = DispatchSemaphore(value: 0)

        init(_ tables: Set<String>) { self.tables = tables }
    }

    private struct State {
        var taken: Set<String> = []
        var waiting: [Waiter] = []
    }

    private let state = Mutex(State())

    /// The number of transactions that wait.
    var waiting: Int { state.withLock(\.waiting.count) }

    fileprivate func join(_ waiter: Waiter) {
        state.withLock { state in
            state.waiting.append(waiter)
            Self.grant(&state)
        }
    }

    /// Gives a turn back, or up where it has not been granted yet.
    fileprivate func leave(_ waiter: Waiter) {
        state.withLock { state in
            if let index = state.waiting.firstIndex(where: { $0 === waiter }) {
                state.waiting.remove(at: index)
            } else {
                state.taken.subtract(waiter.tables)
            }
            Self.grant(&state)
        }
    }

    /// Grants every turn that nobody who came before stands in the way of.
    private static func grant(_ state: inout State) {
        var blocked = state.taken
        state.waiting.removeAll { waiter in
            let isFree = blocked.isDisjoint(with: waiter.tables)
            blocked.formUnion(waiter.tables)
            guard isFree else { return false }
            state.taken.formUnion(waiter.tables)
            waiter.granted.signal()
            return true
        }
    }
}

/// The turn of one transaction.
final class TableTurn {
    private let turns: TableTurns
    private let interruption: CommitInterruption?
    private var waiter: TableTurns.Waiter?

    /// - Parameter interruption: ends the wait for the turn.
    init(_ turns: TableTurns, _ interruption: CommitInterruption? = nil) {
        self.turns = turns
        self.interruption = interruption
    }

    /// Waits until no transaction of this process that came before uses any of the tables. To be called once.
    ///
    /// - Throws: `CancellationError`
    func take(_ tables: some Sequence<String>) throws {
        let waiter = TableTurns.Waiter(Set(tables))
        turns.join(waiter)
        self.waiter = waiter
        if let interruption { try interruption.wait(for: waiter.granted) } else { waiter.granted.wait() }
    }

    deinit { end() }

    /// To be called when the transaction has ended.
    func end() {
        if let waiter { turns.leave(waiter) }
        waiter = nil
    }
}
