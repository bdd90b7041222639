import DequeModule
import Synchronization

/// Limits the places at each key, such as a host, to a number at a time. Others wait in the order of their arrival.
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
        /// Keys where ``placeIfFree(at:)`` found no place.
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

    /// Sets the action for a place that becomes free at a key where ``placeIfFree(at:)`` found none, if nobody waits
    /// there.
    package func onFree(_ action: @escaping @Sendable (String) -> Void) { state.withLock { $0.onFree = action } }

    /// Changes the limit. Places that are already taken stay so.
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

    /// A place at a key, taken until the object is released.
    package final class Place: Sendable {
        private let limiter: HostLimiter
        package let key: String

        fileprivate init(_ limiter: HostLimiter, _ key: String) {
            self.limiter = limiter
            self.key = key
        }

        deinit { limiter.leave(key) }
    }

    /// - Throws: `CancellationError` if the task is cancelled while it waits.
    package func place(at key: String) async throws -> Place {
        try await enter(key)
        return Place(self, key)
    }

    /// Returns a place without waiting; nil if none is free.
    package func placeIfFree(at key: String) -> Place? {
        let isFree = state.withLock { state in
            if state.enter(key) { return true }
            state.refused.insert(key)
            return false
        }
        return isFree ? Place(self, key) : nil
    }

    /// Returns a place at once, over the limit if none is free. For callers that hold what others wait for, and so must
    /// not wait.
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
        // A task cancelled before it asked has used up its mark above. Once it is admitted, a later cancellation is the
        // caller's concern.
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
