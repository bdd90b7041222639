import DequeModule
package import FeedDeclarations
import Synchronization

/// Lets requests to a host begin one after the other, with the time between them that `[hosts]` declares, whatever
/// source, redirect or page they belong to.
///
/// Requests of runs that have begun wait here, in the order of their arrival. Runs that have not begun are refused, and
/// told when there is a turn for them. They come after the others, so that what has begun ends.
package final class HostPace: Sendable {
    struct Host {
        /// When the last request began, by the clock's uptime; nil before the first.
        var last: Duration?
        /// The turn that a run has which is about to begin, by its number: it comes before all others.
        var reservation: Int?
        /// Requests that wait, by their numbers.
        var waiting: Deque<Int> = []
        /// The origins of runs that were refused, in that order: of several of one host, none comes first each time.
        var refused: [String] = []

        var isTaken: Bool { reservation != nil || !waiting.isEmpty }
    }

    struct State {
        var rules: HostRules
        /// Only hosts whose pace is declared, by the rules' keys.
        var hosts: [String: Host] = [:]
        /// The origins of runs that were refused by rules that hold no longer.
        var open: [String] = []
        /// The origins of turns that runs have, by the turns' numbers.
        var turns: [Int: String] = [:]
        var lastID = 0
        /// The sleep of each request that waits.
        var naps: [Int: Task<Void, Never>] = [:]
        var onChange: @Sendable () -> Void = {}

        /// Returns the time until a host may be asked again: zero or less if that is now.
        func rest(at key: String, _ host: Host, now: Duration) -> Duration {
            guard let last = host.last, let pace = rules.pace(at: key) else { return .zero }
            return last + pace - now
        }

        /// The hosts whose next turn is for runs that were refused.
        var refusing: [String] {
            hosts.filter { !$0.value.refused.isEmpty && !$0.value.isTaken }.map(\.key)
        }

        mutating func makeID() -> Int {
            lastID += 1
            return lastID
        }

        /// Returns true where a request to a host may be sent now, and nobody else comes first.
        func isFree(_ key: String, now: Duration) -> Bool {
            guard let host = hosts[key] else { return true }
            return !host.isTaken && rest(at: key, host, now: now) <= .zero
        }

        /// Wakes all who wait for a turn, as the turns have changed.
        func wake() {
            for nap in naps.values { nap.cancel() }
        }
    }

    let state: Mutex<State>
    let uptime: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
    /// The longest sleep before one looks again.
    static let longestNap = Duration.seconds(3600)

    /// - Parameters:
    ///   - uptime: the time since some fixed moment.
    ///   - sleep: waits for a time; throws `CancellationError`.
    package init(
        _ rules: HostRules, uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        state = Mutex(State(rules: rules))
        self.uptime = uptime
        self.sleep = sleep
    }

    /// Returns one for hosts of which none has a pace.
    package static func none() -> HostPace {
        HostPace(HostRules(perHost: 1), uptime: { .zero }, sleep: { try await Task.sleep(for: $0) })
    }

    /// Sets the action for a change after which a run that was refused may have a turn, or at another time.
    package func onChange(_ action: @escaping @Sendable () -> Void) {
        state.withLock { $0.onChange = action }
    }

    /// Changes the rules. All who wait do so under the new ones.
    package func setRules(_ rules: HostRules) {
        let onChange = state.withLock { state in
            state.rules = rules
            state.open += state.hosts.values.flatMap(\.refused)
            // Those who wait, and those who were refused, find their host anew.
            state.hosts = state.hosts.filter { rules.pace(at: $0.key) != nil }.mapValues { Host(last: $0.last) }
            for (id, origin) in state.turns {
                let key = rules.key(of: origin)
                if rules.pace(at: key) != nil { state.hosts[key, default: Host()].reservation = id }
            }
            state.wake()
            return state.onChange
        }
        onChange()
    }

    /// Notes that a host was asked some time ago, as far as nothing later is known.
    package func note(_ origin: String, askedBefore seconds: Duration) {
        let now = uptime()
        state.withLock { state in
            let key = state.rules.key(of: origin)
            guard state.rules.pace(at: key) != nil else { return }
            let last = state.hosts[key]?.last
            state.hosts[key, default: Host()].last = max(last ?? now - seconds, now - seconds)
        }
    }

    // MARK: - Runs that are to begin

    /// The next turn at a host, for a run that is about to begin. It ends with the run's first request: used, or given
    /// back where that goes to another host.
    package final class Turn: Sendable {
        /// The turn of the run's first request.
        @TaskLocal package static var current: Turn?

        private let pace: HostPace
        private let id: Int

        fileprivate init(_ pace: HostPace, _ id: Int) {
            self.pace = pace
            self.id = id
        }

        /// Uses the turn for a request that is about to be sent; returns false if it is another host's, or has ended.
        func use(at origin: String) -> Bool { pace.end(id, at: origin) }

        deinit { _ = pace.end(id, at: nil) }
    }

    /// Returns true where a run may take a turn now. If not, its origin is among ``opened()`` when it may.
    package func isOpen(_ origin: String) -> Bool {
        let now = uptime()
        return state.withLock { state in
            let key = state.rules.key(of: origin)
            guard state.rules.pace(at: key) != nil else { return true }
            if state.isFree(key, now: now) { return true }
            if state.hosts[key]?.refused.contains(origin) != true {
                state.hosts[key, default: Host()].refused.append(origin)
            }
            return false
        }
    }

    /// Returns the turn of a run that begins; nil where its host has no pace, or the turn has gone to somebody else, for
    /// whom the run's first request then waits.
    package func turn(at origin: String) -> Turn? {
        let now = uptime()
        let id: Int? = state.withLock { state in
            let key = state.rules.key(of: origin)
            guard state.rules.pace(at: key) != nil, state.isFree(key, now: now) else { return nil }
            let id = state.makeID()
            state.turns[id] = origin
            state.hosts[key, default: Host()].reservation = id
            return id
        }
        return id.map { Turn(self, $0) }
    }

    /// Ends a turn.
    ///
    /// - Parameter origin: where the request goes that is about to be sent; nil if there is none.
    /// - Returns: true where the turn was for that request's host, and had not ended.
    private func end(_ id: Int, at origin: String?) -> Bool {
        let now = uptime()
        let (isUsed, onChange): (Bool, (@Sendable () -> Void)?) = state.withLock { state in
            guard let own = state.turns.removeValue(forKey: id) else { return (false, nil) }
            let key = state.rules.key(of: own)
            guard var host = state.hosts[key], host.reservation == id else { return (false, nil) }
            let isUsed = origin.map { state.rules.key(of: $0) == key } ?? false
            host.reservation = nil
            if isUsed { host.last = now }
            state.hosts[key] = host
            state.wake()
            return (isUsed, host.refused.isEmpty ? nil : state.onChange)
        }
        onChange?()
        return isUsed
    }

    /// The origins of runs that were refused.
    package var refused: Set<String> {
        state.withLock { Set($0.open + $0.hosts.values.flatMap(\.refused)) }
    }

    /// Returns the origins of runs that were refused, and may begin now.
    package func opened() -> [String] {
        let now = uptime()
        return state.withLock { state in
            var opened = state.open
            state.open = []
            for key in state.refusing {
                guard let host = state.hosts[key], state.rest(at: key, host, now: now) <= .zero else {
                    continue
                }
                opened += host.refused
                state.hosts[key]?.refused = []
            }
            return opened
        }
    }

    /// The time until ``opened()`` is worth a look; nil where nobody was refused, or others come first.
    package var nextOpening: Duration? {
        let now = uptime()
        return state.withLock { state in
            guard state.open.isEmpty else { return .zero }
            return state.refusing.compactMap { key in
                state.hosts[key].map { state.rest(at: key, $0, now: now) }
            }.min()
        }
    }
}
