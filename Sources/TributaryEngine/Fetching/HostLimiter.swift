import Synchronization

/// Lets at most so many requests at a time go to one host; the others wait in the order in which they came.
final class HostLimiter: Sendable {
    private struct Waiter {
        var id: Int
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var active: [String: Int] = [:]
        var waiting: [String: [Waiter]] = [:]
        var cancelled: Set<Int> = []
        var nextID = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// A place at a host, for as long as somebody holds it.
    final class Place: Sendable {
        private let limiter: HostLimiter
        private let host: String

        fileprivate init(_ limiter: HostLimiter, _ host: String) {
            self.limiter = limiter
            self.host = host
        }

        deinit { limiter.leave(host) }
    }

    /// - Throws: `CancellationError` where the task is cancelled while it waits.
    func place(at host: String) async throws -> Place {
        try await enter(host)
        return Place(self, host)
    }

    /// A place for whoever must not wait; nil where there is none.
    func placeIfFree(at host: String) -> Place? {
        let isFree = state.withLock { state in
            guard state.active[host, default: 0] < limit else { return false }
            state.active[host, default: 0] += 1
            return true
        }
        return isFree ? Place(self, host) : nil
    }

    private func enter(_ host: String) async throws {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer: Bool? = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return false }
                    if state.active[host, default: 0] < limit {
                        state.active[host, default: 0] += 1
                        return true
                    }
                    state.waiting[host, default: []].append(Waiter(id: id, continuation: continuation))
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            cancel(id, at: host)
        }
        // Cancelled before it asked, the mark above was consumed; admitted, a later cancellation is the body's.
        guard isAdmitted else { throw CancellationError() }
        state.withLock { _ = $0.cancelled.remove(id) }
    }

    private func cancel(_ id: Int, at host: String) {
        let waiter: Waiter? = state.withLock { state in
            if let index = state.waiting[host]?.firstIndex(where: { $0.id == id }) {
                return state.waiting[host]?.remove(at: index)
            }
            state.cancelled.insert(id)
            return nil
        }
        waiter?.continuation.resume(returning: false)
    }

    private func leave(_ host: String) {
        let next: Waiter? = state.withLock { state in
            if var queue = state.waiting[host], !queue.isEmpty {
                let next = queue.removeFirst()
                state.waiting[host] = queue.isEmpty ? nil : queue
                return next
            }
            let active = state.active[host, default: 1] - 1
            state.active[host] = active > 0 ? active : nil
            return nil
        }
        next?.continuation.resume(returning: true)
    }
}
