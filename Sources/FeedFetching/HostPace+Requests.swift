import DequeModule
import FeedDeclarations
import Synchronization

/// The requests of runs that have begun.
extension HostPace {
    /// Waits until a request may be sent. The time that this takes is not the exchange's.
    ///
    /// - Throws: `CancellationError`.
    func wait(at origin: String, _ progress: ExchangeProgress?) async throws {
        if Turn.current?.use(at: origin) ?? false { return }
        guard !takeTurn(origin) else { return }
        let id = state.withLock { $0.makeID() }
        progress?.pause(at: uptime())
        defer {
            progress?.resume(at: uptime())
            leave(id)
        }
        while let nap = nap(before: origin, id) {
            await withTaskCancellationHandler {
                await nap.value
            } onCancel: {
                nap.cancel()
            }
            try Task.checkCancellation()
        }
    }

    /// Takes the turn for a request, unless others come first; returns false then.
    private func takeTurn(_ origin: String) -> Bool {
        let now = uptime()
        return state.withLock { state in
            let key = state.rules.key(of: origin)
            guard state.rules.pace(at: key) != nil else { return true }
            guard state.isFree(key, now: now) else { return false }
            state.hosts[key, default: Host()].last = now
            return true
        }
    }

    /// Takes the turn for a request that waits, if it is its own.
    ///
    /// - Returns: nil where the request may be sent, else a sleep after which to look again. It is cancelled where the
    ///   turns change.
    private func nap(before origin: String, _ id: Int) -> Task<Void, Never>? {
        let now = uptime()
        return state.withLock { state in
            let key = state.rules.key(of: origin)
            guard let pace = state.rules.pace(at: key) else { return nil }
            var host = state.hosts[key] ?? Host()
            if !host.waiting.contains(id) {
                host.waiting.insert(id, at: host.waiting.firstIndex { $0 > id } ?? host.waiting.endIndex)
            }
            defer { state.hosts[key] = host }
            let ahead = (host.waiting.firstIndex(of: id) ?? 0) + (host.reservation == nil ? 0 : 1)
            let rest = state.rest(at: key, host, now: now)
            guard ahead > 0 || rest > .zero else {
                host.last = now
                return nil
            }
            let time = min(max(rest, .milliseconds(1)) + pace * ahead, Self.longestNap)
            let nap = Task { [sleep] in
                do { try await sleep(time) } catch {}
            }
            state.naps[id] = nap
            return nap
        }
    }

    /// Forgets a request that was sent, or never will be. Those behind it come sooner.
    private func leave(_ id: Int) {
        let onChange: (@Sendable () -> Void)? = state.withLock { state in
            state.naps[id] = nil
            var hasRefused = false
            for (key, host) in state.hosts where host.waiting.contains(id) {
                state.hosts[key]?.waiting.removeAll { $0 == id }
                hasRefused = hasRefused || !host.refused.isEmpty
            }
            state.wake()
            return hasRefused ? state.onChange : nil
        }
        onChange?()
    }
}
