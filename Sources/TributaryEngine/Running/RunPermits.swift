import FeedDeclarations
import FeedFetching
import FeedStores
import Synchronization

/// The resources of one run that it shares with others: its slot, which it lends while it waits, the permits at hosts, and
/// the right to run its source.
final class RunPermits: Sendable {
    private struct State {
        var permit: RunPermit
        /// The permit to go on without a slot.
        var absence: HostLimiter.Place?
        var claim: (any SourceClaim)?
        /// The bytes of bodies that the run has received.
        var received = 0
        /// True once a server has sent next to nothing for seconds.
        var wasSlow = false
    }

    /// A run that has received no more than this holds little memory.
    private static let fewBytes = 64 << 10

    private let environment: RunEnvironment
    private let state: Mutex<State>

    init(_ permit: RunPermit, in environment: RunEnvironment) {
        self.environment = environment
        state = Mutex(State(permit: permit))
    }

    /// True once a server has sent next to nothing for seconds.
    var wasSlow: Bool { state.withLock(\.wasSlow) }

    /// True where the run is counted: it has a slot, or may go on without one.
    private var isCounted: Bool { state.withLock { $0.permit.slot != nil || $0.permit.slowPlace != nil } }

    var claim: (any SourceClaim)? {
        get { state.withLock(\.claim) }
        set { state.withLock { $0.claim = newValue } }
    }

    /// Counts bytes of a body that have been received.
    func received(_ bytes: Int) { state.withLock { $0.received += bytes } }

    /// Gives everything back.
    func release() {
        // Released outside of the lock: what becomes free is told to those who wait.
        _ = state.withLock { state in
            defer { (state.permit, state.absence) = (RunPermit(), nil) }
            return (state.permit, state.absence)
        }
    }

    /// Returns the turn at the first request's host, once. Where nothing is sent, others have it.
    func takeTurn() -> HostPace.Turn? {
        state.withLock { state in
            defer { state.permit.turn = nil }
            return state.permit.turn
        }
    }

    // MARK: - The slot

    /// True where the run has a slot.
    var hasSlot: Bool { state.withLock { $0.permit.slot != nil } }

    /// Takes a slot again, over the limit if none is free: the run holds what others wait for, and so must not wait.
    func resumeSlot() {
        guard !hasSlot else { return }
        let slot = environment.slots.placeRegardless(at: RunPermit.slotKey)
        state.withLock { $0.permit.slot = slot }
    }

    private func setSlot(_ slot: HostLimiter.Place?, absence: HostLimiter.Place?) {
        _ = state.withLock { state in
            defer { (state.permit.slot, state.absence) = (slot, absence) }
            return (state.permit.slot, state.absence)
        }
    }

    /// Runs an exchange with a server, and lends the slot to another run while it stalls. Otherwise servers that hang,
    /// or send a byte now and then, would soon hold every slot.
    ///
    /// - Parameter worked: the time that the run has worked so far.
    func lendingSlot<Value>(
        isolation: isolated (any Actor)? = #isolation, worked: @escaping @Sendable () -> Duration,
        _ exchange: () async throws -> Value
    ) async throws -> Value {
        guard isCounted else { return try await exchange() }
        defer {
            // With its data received, the run does not wait for a slot: others may wait for its place at the host.
            resumeSlot()
            setAbsence(nil)
        }
        async let _ = lendSlotWhileIdle(worked)
        return try await exchange()
    }

    private func setAbsence(_ absence: HostLimiter.Place?) {
        _ = state.withLock { state in
            defer { state.absence = absence }
            return state.absence
        }
    }

    @concurrent private func lendSlotWhileIdle(_ worked: @Sendable () -> Duration) async {
        var watch = StallWatch(worked: worked(), bytes: state.withLock(\.received))
        var interval = StallWatch.firstInterval
        // Real time, whatever clock decides what is due: a thread that hangs does so in real time.
        while (try? await Timers.shared.sleep(until: .now + interval)) != nil {
            let received = state.withLock(\.received)
            let isIdle = watch.isIdle(after: interval, worked: worked(), bytes: received)
            interval = hasSlot ? StallWatch.firstInterval : StallWatch.laterInterval
            if watch.isSlow { state.withLock { $0.wasSlow = true } }
            guard isIdle, hasSlot else { continue }
            let limiter = received <= Self.fewBytes ? environment.lightAbsences : environment.absences
            if let absence = limiter.placeIfFree(at: RunPermit.slotKey), lendSlot(for: absence) {
                interval = StallWatch.laterInterval
            }
        }
    }

    /// Lends the slot, unless the run has none, or goes on without one already.
    private func lendSlot(for absence: HostLimiter.Place) -> Bool {
        let slot = state.withLock { state -> HostLimiter.Place? in
            guard let slot = state.permit.slot, state.absence == nil else { return nil }
            (state.permit.slot, state.absence) = (nil, absence)
            return slot
        }
        return slot != nil
    }

    // MARK: - Hosts

    /// Returns a place at a request's host; nil if there is none and the request may not wait. A run that holds other
    /// places must not wait for one more, as every run might do so.
    func place(for request: RequestDeclaration, mayWait: Bool) async throws -> HostLimiter.Place? {
        let host = try request.origin()
        guard mayWait else {
            try claim?.check()
            return environment.hosts.placeIfFree(at: host)
        }
        return try await place(at: host)
    }

    /// Returns a place at a host. While the run waits for it, another run goes on, so a host that hangs delays only its
    /// own sources.
    ///
    /// - Throws: `StoreError` where another daemon may run the source by now; `CancellationError`.
    func place(at host: String) async throws -> HostLimiter.Place {
        let place = try await freePlace(at: host)
        try claim?.check()
        return place
    }

    func exchangePlace(_ place: HostLimiter.Place, mayWait: Bool) -> ExchangePlace {
        ExchangePlace(
            place, of: environment.hosts, mayWait: mayWait, uptime: { [environment] in environment.clock.uptime })
    }

    private func freePlace(at host: String) async throws -> HostLimiter.Place {
        let reserved = state.withLock { state in
            defer { state.permit.place = nil }
            return state.permit.place
        }
        if let reserved, reserved.key == host { return reserved }
        if let place = environment.hosts.placeIfFree(at: host) { return place }
        guard hasSlot, let absence = environment.absences.placeIfFree(at: RunPermit.slotKey) else {
            return try await environment.hosts.place(at: host)
        }
        setSlot(nil, absence: nil)
        let place = try await environment.hosts.place(at: host)
        // The run holds a place that others wait for while they keep their slots. If it waited for such a slot, none
        // could go on.
        resumeSlot()
        withExtendedLifetime(absence) {}
        return place
    }
}
