package import FeedConfiguration
import FeedModel
package import Foundation

/// Limits the exchanges at each host: their number at a time, and their requests to one in each interval that `[hosts]`
/// declares.
///
/// An exchange acquires a ``HostPermit``, which it consults before each request. Runs that have begun wait in the order
/// of their arrival. Runs that have not begun are refused, and ``onFree(_:)`` reports when they may try again.
package final class HostGate: Sendable {
    private struct State {
        var queues: HostQueues
        var onFree: @Sendable ([Origin]) -> Void = { _ in }
        /// The uptime for which the timer is set; nil if it is not set.
        var alarm: Duration?
        var timer: Task<Void, Never>?
    }

    private let state: Mutex<State>
    private let uptime: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameters:
    ///   - uptime: the time since an arbitrary fixed moment.
    ///   - sleep: waits for a time; throws `CancellationError`.
    package init(
        _ rules: HostRules, uptime: @escaping @Sendable () -> Duration,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        state = Mutex(State(queues: HostQueues(rules)))
        self.uptime = uptime
        self.sleep = sleep
    }

    /// Creates a gate without rate limits.
    ///
    /// - Parameter limit: the permits of each host, or of any other key.
    package convenience init(limit: Int) {
        self.init(HostRules(perHost: limit), uptime: { .zero }, sleep: { _ in })
    }

    /// Sets the action for origins at which ``start(at:)`` gave no permit, and may give one now.
    package func onFree(_ action: @escaping @Sendable ([Origin]) -> Void) { state.withLock { $0.onFree = action } }

    /// Changes the rules. Permits stay acquired; the new rules apply to waiting exchanges.
    package func setRules(_ rules: HostRules) { change { $0.setRules(rules, now: $1) } }

    /// Notes a past request to a host, unless a later one is known.
    package func note(_ origin: Origin, askedBefore time: Duration) {
        let now = uptime()
        state.withLock { $0.queues.note(origin, sentAt: now - time) }
    }

    /// Returns the origins of runs that have begun to wait for their host's rate limit since the last call.
    package func takeNewlyLimited() -> [Origin] { state.withLock { $0.queues.takeNewlyLimited() } }

    func looking<Value: Sendable>(_ body: (HostQueues) -> Value) -> Value { state.withLock { body($0.queues) } }

    // MARK: - Permits

    /// Returns the permit of a run that is about to begin, and reserves the host's next request for it.
    ///
    /// - Returns: nil if the run may not begin now. ``onFree(_:)`` reports when it may.
    package func start(at origin: Origin) -> HostPermit? {
        let now = uptime()
        let id = state.withLock { state in
            defer { setTimer(&state) }
            return state.queues.start(origin, now: now)
        }
        return id.map { HostPermit($0, origin, of: self) }
    }

    /// Returns a permit without waiting; nil if none is free.
    package func permitIfFree(at origin: Origin) -> HostPermit? {
        let id = state.withLock { $0.queues.acquire(origin) }
        return id.map { HostPermit($0, origin, of: self) }
    }

    /// - Throws: `CancellationError`.
    package func permit(at origin: Origin) async throws -> HostPermit {
        HostPermit(try await enter(origin), origin, of: self)
    }

    /// Acquires a permit's number for an origin.
    ///
    /// - Throws: `CancellationError`.
    func enter(_ origin: Origin) async throws -> Int {
        try await waiting(at: origin) { waiter in
            (answer: self.state.withLock { $0.queues.arrive(waiter) }, effects: HostQueues.Effects())
        }
    }

    /// Acquires a permit's number at once, exceeding the limit if none is free.
    func enterOverLimit(_ origin: Origin) -> Int {
        guard let id = state.withLock({ $0.queues.acquire(origin, exceedsLimit: true) }) else {
            preconditionFailure("a permit over the limit is always there")
        }
        return id
    }

    func leave(_ id: Int) { change { $0.release(id, now: $1) } }

    func endReservation(_ id: Int) { change { $0.endReservation(id, now: $1) } }

    func covers(_ id: Int, _ origin: Origin) -> Bool { state.withLock { $0.queues.covers(id, origin) } }

    // MARK: - The pauses that servers request

    /// The longest pause for which a request of a run in progress waits.
    package static let longestPause = Duration.seconds(300)

    /// Notes that a server wants no request for a time (Retry-After). Changes of the clock do not lengthen it.
    package func close(_ origin: Origin, for time: Duration) {
        let now = uptime()
        state.withLock { $0.queues.close(origin, until: now + time, now: now) }
    }

    /// Notes the pauses that a store keeps: their ends, by the origins as text.
    package func close(_ stored: [String: Date], now: Date) {
        for (text, end) in stored where end > now {
            if let origin = Origin(text) { close(origin, for: .seconds(end.timeIntervalSince(now))) }
        }
    }

    /// Returns the rest of the pause that an origin's server has requested; nil without one.
    package func pause(of origin: Origin) -> Duration? {
        let now = uptime()
        return state.withLock { $0.queues.pause(of: origin, now: now) }
    }

    /// True if a server may have requested a pause that is not over.
    package var hasPauses: Bool { state.withLock { !$0.queues.closed.isEmpty } }

    /// The rests of all pauses that servers have requested.
    package var pauses: [Origin: Duration] {
        let now = uptime()
        return state.withLock { state in
            state.queues.closed.keys.reduce(into: [:]) { $0[$1] = state.queues.pause(of: $1, now: now) }
        }
    }

    /// Waits for the end of the pause that an origin's server has requested. The wait does not count as time of the
    /// exchange.
    ///
    /// - Throws: ``ClosedHost`` if the pause is longer than ``longestPause``; `CancellationError`.
    func waitUntilOpen(_ origin: Origin, _ clock: ExchangeClock?) async throws {
        while let left = pause(of: origin) {
            guard left <= Self.longestPause else { throw ClosedHost(origin: origin, left: left) }
            try await pausing(clock) { try await sleep(left) }
        }
    }

    // MARK: - The rate limit

    /// Waits until a request may be sent. The wait does not count as time of the exchange.
    ///
    /// - Parameter permit: the number of the permit whose reservation the request uses.
    /// - Throws: ``ClosedHost``; `CancellationError`.
    func waitToSend(to origin: Origin, _ permit: Int?, _ clock: ExchangeClock?) async throws {
        // The server may request a pause during the wait for the rate limit.
        repeat {
            try await waitUntilOpen(origin, clock)
            try await waitForTurn(at: origin, permit, clock)
        } while pause(of: origin) != nil
    }

    private func waitForTurn(at origin: Origin, _ permit: Int?, _ clock: ExchangeClock?) async throws {
        let now = uptime()
        var isSent = false
        change { queues, _ in
            let answer = queues.send(origin, permit, now: now)
            isSent = answer.isSent
            return answer.effects
        }
        guard !isSent else { return }
        try await pausing(clock) {
            _ = try await waiting(at: origin) { waiter in
                let now = self.uptime()
                return self.state.withLock { state in
                    defer { self.setTimer(&state) }
                    return state.queues.wait(waiter, now: now)
                }
            }
        }
    }

    /// Runs a wait that does not count as time of the exchange.
    func pausing<Value>(_ clock: ExchangeClock?, _ wait: () async throws -> Value) async rethrows -> Value {
        clock?.pause()
        defer { clock?.resume() }
        return try await wait()
    }

    // MARK: - Waiting

    /// - Parameter queue: enqueues the waiter, or answers at once.
    /// - Returns: the waiter's number.
    /// - Throws: `CancellationError`.
    private func waiting(
        at origin: Origin, _ queue: @Sendable (HostQueues.Waiter) -> (answer: Bool?, effects: HostQueues.Effects)
    ) async throws -> Int {
        let id = state.withLock { $0.queues.makeID() }
        let isAdmitted = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (answer, effects) = queue(HostQueues.Waiter(id: id, origin: origin, continuation: continuation))
                if let answer { continuation.resume(returning: answer) }
                report(effects)
            }
        } onCancel: {
            cancel(id, origin)
        }
        guard isAdmitted else { throw CancellationError() }
        // The caller handles a cancellation after the answer.
        state.withLock { $0.queues.forgetCancellation(id) }
        return id
    }

    private func cancel(_ id: Int, _ origin: Origin) {
        var waiter: HostQueues.Waiter?
        change { queues, now in
            let answer = queues.cancel(id, origin, now: now)
            waiter = answer.waiter
            return answer.effects
        }
        waiter?.continuation.resume(returning: false)
    }

    private func change(_ body: (inout HostQueues, _ now: Duration) -> HostQueues.Effects) {
        let now = uptime()
        let effects = state.withLock { state in
            defer { setTimer(&state) }
            return body(&state.queues, now)
        }
        report(effects)
    }

    /// Called outside of the lock, because resumed waiters may call the gate at once.
    private func report(_ effects: HostQueues.Effects) {
        for waiter in effects.admitted { waiter.continuation.resume(returning: true) }
        guard !effects.freed.isEmpty else { return }
        state.withLock(\.onFree)(effects.freed)
    }

    /// Sets the timer, unless it is set for this time or an earlier one.
    private func setTimer(_ state: inout State) {
        guard let next = state.queues.nextAlarm(), state.alarm.map({ next < $0 }) ?? true else { return }
        state.timer?.cancel()
        state.alarm = next
        state.timer = Task { [weak self, sleep, uptime] in
            // The task may begin later than it was created.
            do { try await sleep(max(.zero, next - uptime())) } catch { return }
            self?.wake()
        }
    }

    private func wake() {
        let now = uptime()
        let effects = state.withLock { state in
            state.alarm = nil
            defer { setTimer(&state) }
            return state.queues.wake(now: now)
        }
        report(effects)
    }
}

/// The error of a request to a server that has requested a longer pause than a run waits for.
struct ClosedHost: Error {
    var origin: Origin
    /// The rest of the pause.
    var left: Duration
}

/// The activity at one host, for commands and the page.
package struct HostActivity: Sendable {
    /// An origin, or the host that `[hosts]` declares.
    package var key: String
    /// The exchanges in progress, and their limit.
    package var permits: Int
    package var limit: Int
    /// The time between two requests that `[hosts]` declares.
    package var pace: Duration?
    /// The number of runs in progress that wait for a permit or the rate limit, and of origins whose runs wait to
    /// begin.
    package var waiting: Int
    package var refused: [Origin]
}

extension HostGate {
    /// The activity at each host with an exchange, a waiting run or a rate limit, sorted by name.
    package var activity: [HostActivity] {
        looking { queues in
            Set(queues.hosts.keys).union(queues.rules.pacedKeys).sorted().map { key in
                let host = queues.hosts[key] ?? HostQueues.Host()
                return HostActivity(
                    key: key, permits: host.permits, limit: queues.rules.limit(at: key),
                    pace: queues.rules.pace(at: key),
                    waiting: host.arrivals.count + host.senders.count, refused: host.refused)
            }
        }
    }
}

/// A permit for exchanges at one host. A redirect to another host exchanges it for one there.
package final class HostPermit: Sendable {
    private let gate: HostGate
    /// nil after the release, and during a move.
    private let held: Mutex<(id: Int, origin: Origin)?>
    private let check = Mutex<(@Sendable () throws -> Void)?>(nil)

    init(_ id: Int, _ origin: Origin, of gate: HostGate) {
        self.gate = gate
        held = Mutex((id, origin))
    }

    /// The origin of the permit; nil after the release.
    package var origin: Origin? { held.withLock { $0?.origin } }

    /// Releases the permit. A second call has no effect.
    package func release() {
        if let id = take() { gate.leave(id) }
    }

    private func take() -> Int? {
        held.withLock { held in
            defer { held = nil }
            return held?.id
        }
    }

    /// Sets the check before each request; it throws if the request must not be sent.
    package func beforeEachRequest(_ check: @escaping @Sendable () throws -> Void) {
        self.check.withLock { $0 = check }
    }

    /// Waits until a request may be sent. The wait does not count as time of the exchange.
    ///
    /// - Throws: ``ClosedHost``; `CancellationError`; what the check throws.
    func waitToSend(to origin: Origin, _ clock: ExchangeClock?) async throws {
        try await gate.waitToSend(to: origin, held.withLock { $0?.id }, clock)
        let check = check.withLock { $0 }
        try check?()
    }

    /// Ends the permit's reservation of the host's next request.
    func endReservation() { if let id = held.withLock({ $0?.id }) { gate.endReservation(id) } }

    /// Moves to the host of another origin. Releases the permit before it waits for the new one, so that two exchanges
    /// at each other's hosts do not deadlock.
    ///
    /// - Parameter mayWait: false for one of several exchanges of a run. Because its run holds other permits, it must not
    ///   wait, and exceeds the limit if no permit is free.
    /// - Throws: `CancellationError`.
    func move(to origin: Origin, mayWait: Bool, _ clock: ExchangeClock?) async throws {
        guard let id = held.withLock({ $0?.id }), !gate.covers(id, origin) else { return }
        release()
        let next =
            mayWait
            ? try await gate.pausing(clock) { try await gate.enter(origin) } : gate.enterOverLimit(origin)
        held.withLock { $0 = (next, origin) }
    }

    deinit {
        guard let id = take() else { return }
        assertionFailure("a permit at a host was not released")
        gate.leave(id)
    }
}

/// The context of an exchange: the permit at its host, and its clock.
package struct ExchangeContext: Sendable {
    /// The permit; nil for an exchange without limits.
    package var permit: HostPermit?
    /// False for one of several exchanges of a run, which must not wait for a permit at another host.
    package var mayWait: Bool
    package var clock: ExchangeClock?

    package init(_ permit: HostPermit? = nil, mayWait: Bool = true, _ clock: ExchangeClock? = nil) {
        self.permit = permit
        self.mayWait = mayWait
        self.clock = clock
    }
}
