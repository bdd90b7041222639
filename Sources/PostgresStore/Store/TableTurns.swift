import Foundation
import FeedModel
import struct Synchronization.Atomic

/// The turns of this process's commits at the tables that they write. Only one of them then waits for a table's lock, or
/// holds it, at the server: a process that is stopped in that moment holds up the others by one session, not by many.
/// Commits that lock no table share their turns with each other.
///
/// A commit takes its turn before its transaction begins: one that waits for others of its process holds back nothing at
/// the server, neither locks nor VACUUM.
final class TableTurns: Sendable {
    fileprivate final class Waiter: Sendable {
        let tables: Set<String>
        let isShared: Bool
        private let state = Mutex<(isGranted: Bool, onGrant: (@Sendable () -> Void)?)>((false, nil))

        init(_ tables: Set<String>, isShared: Bool) {
            self.tables = tables
            self.isShared = isShared
        }

        var isGranted: Bool { state.withLock(\.isGranted) }

        func grant() {
            let onGrant = state.withLock { state in
                state.isGranted = true
                return state.onGrant
            }
            onGrant?()
        }

        /// Calls a body when the turn is granted: at once where it has been.
        func onGrant(_ body: @escaping @Sendable () -> Void) {
            let isGranted = state.withLock { state in
                state.onGrant = body
                return state.isGranted
            }
            if isGranted { body() }
        }
    }

    private struct State {
        var granted: [Waiter] = []
        var waiting: [Waiter] = []
    }

    private let state = Mutex(State())

    /// The number of commits that wait.
    var waiting: Int { state.withLock(\.waiting.count) }

    fileprivate func join(_ waiter: Waiter) {
        update { $0.waiting.append(waiter) }
    }

    /// Gives a turn back, or up where it has not been granted yet.
    fileprivate func leave(_ waiter: Waiter) {
        update { state in
            state.waiting.removeAll { $0 === waiter }
            state.granted.removeAll { $0 === waiter }
        }
    }

    private func update(_ change: (inout State) -> Void) {
        let granted = state.withLock { state in
            change(&state)
            return Self.grant(&state)
        }
        for waiter in granted { waiter.grant() }
    }

    /// Grants every turn without an earlier conflicting one.
    private static func grant(_ state: inout State) -> [Waiter] {
        var before = state.granted
        var new: [Waiter] = []
        state.waiting.removeAll { waiter in
            let isFree = before.allSatisfy {
                $0.isShared && waiter.isShared || $0.tables.isDisjoint(with: waiter.tables)
            }
            before.append(waiter)
            if isFree { new.append(waiter) }
            return isFree
        }
        state.granted += new
        return new
    }
}

/// The turn of one commit. It ends at the latest with its last owner.
final class TableTurn: Sendable {
    private let turns: TableTurns
    private let waiter: TableTurns.Waiter

    /// Queues behind all earlier commits of this process.
    ///
    /// - Parameter isShared: true for a commit that can share the turn with other shared ones.
    init(_ turns: TableTurns, _ tables: some Sequence<String>, isShared: Bool = false) {
        self.turns = turns
        waiter = TableTurns.Waiter(Set(tables), isShared: isShared)
        turns.join(waiter)
    }

    deinit { end() }

    /// True if no commit that came before uses any of the tables any more.
    var isGranted: Bool { waiter.isGranted }

    /// Returns the tables that the turn is not for.
    func missing(_ tables: Set<String>) -> Set<String> { tables.subtracting(waiter.tables) }

    /// True if the turn will do for a commit into these tables.
    func serves(_ tables: Set<String>, isShared: Bool) -> Bool {
        missing(tables).isEmpty && (isShared || !waiter.isShared)
    }

    /// Blocks its thread until the turn is granted.
    ///
    /// - Parameter stop: ends the wait.
    /// - Throws: `CancellationError`
    func wait(_ stop: Stop? = nil) throws {
        guard !isGranted else { return }
        let granted = DispatchSemaphore(value: 0)
        waiter.onGrant { granted.signal() }
        if let stop { try stop.wait(for: granted) } else { granted.wait() }
    }

    /// Does the same as ``wait(_:)`` without blocking a thread.
    func granted(_ stop: Stop) async throws {
        var id: Int?
        await withCheckedContinuation { continuation in
            let end = OneCall { continuation.resume() }
            id = stop.add(Stop.Work(end: { end() }))
            waiter.onGrant { end() }
        }
        if let id { stop.remove(id) }
        try stop.check()
    }

    /// To be called when the transaction has ended.
    func end() { turns.leave(waiter) }
}

/// A function that does something with the first call only.
private final class OneCall: Sendable {
    private let body: @Sendable () -> Void
    private let wasCalled = Atomic<Bool>(false)

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func callAsFunction() {
        if !wasCalled.exchange(true, ordering: .relaxed) { body() }
    }
}
