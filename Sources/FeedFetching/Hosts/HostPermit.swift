package import FeedConfiguration
import FeedModel

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
