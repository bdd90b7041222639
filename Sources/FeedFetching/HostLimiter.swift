import DequeModule
import Synchronization

/// Lets at most so many at a time have a place at one key, such as a host; the others wait in the order in which they came.
package final class HostLimiter: Sendable {
    private struct Waiter {
        var id: Int
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var limit: Int
        var active: [String: Int] = [:]
        var waiting: [String: Deque<Waiter>] = [:]
        var cancelled: Set<Int> = []
        var nextID = 0
        /// Keys at which somebody who does not wait was refused a place.
        var refused: Set<String> = []
        var onFree: @Sendable (String) -> Void = { _ in }

        mutating func enter(_ key: String) -> Bool {
            guard active[key, default: 0] < limit else { return false }
            active[key, default: 0] += 1
            return true
        }
    }

    private let state: Mutex<State>

    package init(limit: Int) { state = Mutex(State(limit: limit)) }

    /// Calls `action` when a place is free again at a key where ``placeIfFree(at:)`` found none, and nobody waits for it.
    package func onFree(_ action: @escaping @Sendable (String) -> Void) { state.withLock { $0.onFree = action } }

    /// Lets more or fewer in from now on. Who is in stays in.
    package func setLimit(_ limit: Int) {
        let (admitted, freed, onFree) = state.withLock { state in
            state.limit = limit
            var admitted: [Waiter] = []
            for key in state.waiting.keys {
                while let waiter = state.waiting[key]?.first, state.enter(key) {
                    admitted.append(waiter)
                    state.waiting[key]?.removeFirst()
                }
                if state.waiting[key]?.isEmpty ?? false { state.waiting[key] = nil }
            }
            let freed = state.refused.filter { state.active[$0, default: 0] < limit }
            state.refused.subtract(freed)
            return (admitted, freed, state.onFree)
        }
        for waiter in admitted { waiter.continuation.resume(returning: true) }
        for key in freed { onFree(key) }
    }

    /// A place at a key, for as long as somebody holds it.
    package final class Place: Sendable {
        private let limiter: HostLimiter
        package let key: String

        fileprivate init(_ limiter: HostLimiter, _ key: String) {
            self.limiter = limiter
            self.key = key
        }

        deinit { limiter.leave(key) }
    }

    /// - Throws: `CancellationError` where the task is cancelled while it waits.
    package func place(at key: String) async throws -> Place {
        try await enter(key)
        return Place(self, key)
    }

    /// A place for whoever must not wait; nil where there is none.
    package func placeIfFree(at key: String) -> Place? {
        let isFree = state.withLock { state in
            if state.enter(key) { return true }
            state.refused.insert(key)
            return false
        }
        return isFree ? Place(self, key) : nil
    }

    /// A place for whoever holds what others wait for, and so must not wait: over the limit where there is none.
    package func placeRegardless(at key: String) -> Place {
        state.withLock { $0.active[key, default: 0] += 1 }
        return Place(self, key)
    }

    private func enter(_ key: String) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    if state.enter(key) { return true }
                    state.waiting[key, default: []].append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            cancel(id, at: key)
        }
        // Cancelled before it asked, the mark above was consumed; admitted, a later cancellation is the body's.
        guard isAdmitted else { throw CancellationError() }
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    private func cancel(_ id: Int, at key: String) {
        let waiter: Waiter? = state.withLock { state in
            if let index = state.waiting[key]?.firstIndex(where: { $0.id == id }) {
                return state.waiting[key]?.remove(at: index)
            }
            state.cancelled.insert(id)
            return nil
        }
        waiter?.continuation.resume(returning: false)
    }

    private func leave(_ key: String) {
        let (next, onFree) = state.withLock { (state) -> (Waiter?, (@Sendable (String) -> Void)?) in
            if state.active[key, default: 0] <= state.limit, let next = state.waiting[key]?.popFirst() {
                if state.waiting[key]?.isEmpty ?? false { state.waiting[key] = nil }
                return (next, nil)
            }
            let active = state.active[key, default: 1] - 1
            state.active[key] = active > 0 ? active : nil
            return (nil, active < state.limit && state.refused.remove(key) != nil ? state.onFree : nil)
        }
        next?.continuation.resume(returning: true)
        onFree?(key)
    }
}
