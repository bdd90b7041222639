package import FeedDeclarations
import Locking

/// The permit for exchanges at one host, until it is released. It moves with an exchange that is redirected to another host.
package final class HostPermit: Sendable {
    private let gate: HostGate
    /// nil once the permit is released, and while it moves.
    private let held: Mutex<(id: Int, origin: Origin)?>
    private let check = Mutex<(@Sendable () throws -> Void)?>(nil)

    init(_ id: Int, _ origin: Origin, of gate: HostGate) {
        self.gate = gate
        held = Mutex((id, origin))
    }

    /// The origin for which it was given; nil once it is released.
    package var origin: Origin? { held.withLock { $0?.origin } }

    /// Gives the permit back. A second call does nothing.
    package func release() {
        if let id = take() { gate.leave(id) }
    }

    private func take() -> Int? {
        held.withLock { held in
            defer { held = nil }
            return held?.id
        }
    }

    /// Sets what throws where no further request may be sent.
    package func beforeEachRequest(_ check: @escaping @Sendable () throws -> Void) {
        self.check.withLock { $0 = check }
    }

    /// Waits until a request may be sent. The wait is not the exchange's time.
    ///
    /// - Throws: `CancellationError`; what the check throws.
    func waitToSend(to origin: Origin, _ progress: ExchangeProgress?) async throws {
        try await gate.waitToSend(to: origin, held.withLock { $0?.id }, progress)
        let check = check.withLock { $0 }
        try check?()
    }

    /// Gives the host's next request, which is reserved for this permit, to whoever is next.
    func endReservation() { if let id = held.withLock({ $0?.id }) { gate.endReservation(id) } }

    /// Changes to a permit at the host of an origin, if that is another one. Gives up the former before it waits: otherwise
    /// two exchanges that wait at each other's hosts would wait for ever.
    ///
    /// - Parameter mayWait: false for one of several exchanges of a run. Its run holds other permits, and every run might do
    ///   so; it takes one over the limit.
    /// - Throws: `CancellationError`.
    func move(to origin: Origin, mayWait: Bool, _ progress: ExchangeProgress?) async throws {
        guard let id = held.withLock({ $0?.id }), !gate.covers(id, origin) else { return }
        release()
        let next =
            mayWait
            ? try await gate.pausing(progress) { try await gate.enter(origin) } : gate.enterOverLimit(origin)
        held.withLock { $0 = (next, origin) }
    }

    deinit {
        guard let id = take() else { return }
        assertionFailure("a permit at a host was not released")
        gate.leave(id)
    }
}

/// What an exchange takes along: the permit at its host, and its progress.
package struct ExchangeContext: Sendable {
    /// nil where the exchange is not counted.
    package var permit: HostPermit?
    /// False for one of several exchanges of a run, which must not wait for a permit at another host.
    package var mayWait: Bool
    package var progress: ExchangeProgress?

    package init(_ permit: HostPermit? = nil, mayWait: Bool = true, _ progress: ExchangeProgress? = nil) {
        self.permit = permit
        self.mayWait = mayWait
        self.progress = progress
    }
}
