import Foundation
import Synchronization

/// The turns of this process's commits at the tables that they write. Only one of them then waits for a table's lock, or
/// holds it, at the server: a process that is stopped in that moment holds up the others by one session, not by many.
/// Commits that lock no table share their turns with each other.
final class TableTurns: Sendable {
    fileprivate final class Waiter: Sendable {
        let tables: Set<String>
        let isShared: Bool
        let granted = DispatchSemaphore(value: 0)

        init(_ tables: Set<String>, isShared: Bool) {
            self.tables = tables
            self.isShared = isShared
        }
    }

    private struct State {
        var granted: [Waiter] = []
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
            state.waiting.removeAll { $0 === waiter }
            state.granted.removeAll { $0 === waiter }
            Self.grant(&state)
        }
    }

    /// Grants every turn that nobody who came before stands in the way of.
    private static func grant(_ state: inout State) {
        var before = state.granted
        state.waiting.removeAll { waiter in
            let isFree = before.allSatisfy {
                $0.isShared && waiter.isShared || $0.tables.isDisjoint(with: waiter.tables)
            }
            before.append(waiter)
            guard isFree else { return false }
            state.granted.append(waiter)
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
    /// - Parameter isShared: true for a transaction that others who share their turns need not wait for.
    /// - Throws: `CancellationError`
    func take(_ tables: some Sequence<String>, isShared: Bool = false) throws {
        let waiter = TableTurns.Waiter(Set(tables), isShared: isShared)
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
