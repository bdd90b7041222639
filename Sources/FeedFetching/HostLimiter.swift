import DequeModule
package import FeedDeclarations
import Synchronization

/// Limits the places at each host, or at any other key, to a number at a time. Others wait in the order of their arrival.
package final class HostLimiter: Sendable {
    private struct Waiter {
        var id: Int
        var origin: String
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var rules: HostRules
        /// Places that are taken, by origin. What counts is their sum by the rules' keys, in `active`.
        var taken: [String: Int] = [:]
        var active: [String: Int] = [:]
        /// By the rules' keys.
        var waiting: [String: Deque<Waiter>] = [:]
        var cancelled: Set<Int> = []
        var nextID = 0
        /// Origins where ``placeIfFree(at:)`` found no place, by the rules' keys, in the order in which they asked.
        var refused: [String: [String]] = [:]
        var onFree: @Sendable (String) -> Void = { _ in }

        func isFree(_ key: String) -> Bool { active[key, default: 0] < rules.limit(at: key) }

        mutating func take(_ origin: String) {
            taken[origin, default: 0] += 1
            active[rules.key(of: origin), default: 0] += 1
        }

        mutating func enter(_ origin: String) -> Bool {
            guard isFree(rules.key(of: origin)) else { return false }
            take(origin)
            return true
        }

        mutating func refuse(_ origin: String) {
            let key = rules.key(of: origin)
            if refused[key]?.contains(origin) != true { refused[key, default: []].append(origin) }
        }

        mutating func leave(_ origin: String) {
            let key = rules.key(of: origin)
            taken[origin] = taken[origin].flatMap { $0 > 1 ? $0 - 1 : nil }
            active[key] = active[key].flatMap { $0 > 1 ? $0 - 1 : nil }
        }

        /// Lets those in for whom there is room at a key.
        ///
        /// - Returns: who was waiting, and the origins of those who were refused, if there is room left for them.
        mutating func admit(_ key: String) -> (admitted: [Waiter], freed: [String]) {
            var admitted: [Waiter] = []
            while let waiter = waiting[key]?.first, enter(waiter.origin) {
                admitted.append(waiter)
                waiting[key]?.removeFirst()
            }
            if waiting[key]?.isEmpty ?? false { waiting[key] = nil }
            return (admitted, isFree(key) ? refused.removeValue(forKey: key) ?? [] : [])
        }
    }

    private let state: Mutex<State>

    package init(_ rules: HostRules) { state = Mutex(State(rules: rules)) }

    /// - Parameter limit: the places at each key.
    package convenience init(limit: Int) { self.init(HostRules(perHost: limit)) }

    /// Sets the action for a place that becomes free for an origin where ``placeIfFree(at:)`` found none, if nobody waits
    /// there.
    package func onFree(_ action: @escaping @Sendable (String) -> Void) {
        state.withLock { $0.onFree = action }
    }

    /// Changes the limit. Places that are already taken stay so.
    package func setLimit(_ limit: Int) { setRules(HostRules(perHost: limit)) }

    /// Changes the rules. Places that are already taken stay so, and those who wait do so under the new rules.
    package func setRules(_ rules: HostRules) {
        let (admitted, freed, onFree) = state.withLock { state in
            state.rules = rules
            state.active = [:]
            for (origin, count) in state.taken {
                state.active[rules.key(of: origin), default: 0] += count
            }
            let waiters = state.waiting.values.joined().sorted { $0.id < $1.id }
            state.waiting = Dictionary(grouping: waiters) { rules.key(of: $0.origin) }.mapValues {
                Deque($0)
            }
            state.refused = Dictionary(grouping: state.refused.values.joined(), by: rules.key)
            var all = (admitted: [Waiter](), freed: [String]())
            for key in Set(state.waiting.keys).union(state.refused.keys) {
                let (admitted, freed) = state.admit(key)
                all.admitted += admitted
                all.freed += freed
            }
            return (all.admitted, all.freed, state.onFree)
        }
        for waiter in admitted { waiter.continuation.resume(returning: true) }
        for origin in freed { onFree(origin) }
    }

    /// Returns true where a place at one origin is one at the other.
    func countsAlike(_ one: String, _ other: String) -> Bool {
        one == other || state.withLock { $0.rules.key(of: one) == $0.rules.key(of: other) }
    }

    /// A place at an origin, taken until the object is released.
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
            state.refuse(key)
            return false
        }
        return isFree ? Place(self, key) : nil
    }

    /// Returns a place at once, over the limit if none is free. For callers that hold what others wait for, and so must
    /// not wait.
    package func placeRegardless(at key: String) -> Place {
        state.withLock { $0.take(key) }
        return Place(self, key)
    }

    private func enter(_ origin: String) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    if state.enter(origin) { return true }
                    let waiter = Waiter(id: id, origin: origin, continuation: continuation)
                    state.waiting[state.rules.key(of: origin), default: []].append(waiter)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            cancel(id, at: origin)
        }
        // A task cancelled before it asked has used up its mark above. Once it is admitted, a later cancellation is the
        // caller's concern.
        guard isAdmitted else { throw CancellationError() }
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    private func cancel(_ id: Int, at origin: String) {
        let waiter: Waiter? = state.withLock { state in
            let key = state.rules.key(of: origin)
            if let index = state.waiting[key]?.firstIndex(where: { $0.id == id }) {
                return state.waiting[key]?.remove(at: index)
            }
            state.cancelled.insert(id)
            return nil
        }
        waiter?.continuation.resume(returning: false)
    }

    private func leave(_ origin: String) {
        let (admitted, freed, onFree) = state.withLock { state in
            state.leave(origin)
            let (admitted, freed) = state.admit(state.rules.key(of: origin))
            return (admitted, freed, state.onFree)
        }
        for waiter in admitted { waiter.continuation.resume(returning: true) }
        for origin in freed { onFree(origin) }
    }
}
