import FeedDeclarations
import FeedFetching
import FeedStores
import Ledger
import Locking

/// The shared resources of one run: its slot, which it releases while it waits, its permits at hosts, and its right to
/// run the source.
final class RunPermits: Sendable {
    private struct State {
        /// The permit at the first request's host, until that request uses it.
        var host: HostPermit?
        /// True if the run has one of the slots for concurrent runs.
        var hasSlot: Bool
        /// The slots of slow sources, if the run has one of them.
        var slow: Slots?
        /// The limit of parked runs, while the run counts towards it.
        var parked: Slots?
        var claim: (any SourceClaim)?
        /// The bytes of bodies that the run has received.
        var received = 0
        /// True once a server has been slow.
        var wasSlow = false
    }

    /// A run with at most this many received bytes holds little memory.
    private static let fewBytes = 64 << 10

    private let environment: RunEnvironment
    private let state: Mutex<State>

    init(_ permit: RunPermit, in environment: RunEnvironment) {
        self.environment = environment
        state = Mutex(
            State(
                host: permit.host, hasSlot: permit.slots != nil && !permit.isSlow,
                slow: permit.isSlow ? permit.slots : nil))
    }

    /// True once a server has been slow.
    var wasSlow: Bool { state.withLock(\.wasSlow) }

    /// True if the run is counted: it has a slot, or is parked.
    private var isCounted: Bool { state.withLock { $0.hasSlot || $0.slow != nil } }

    var claim: (any SourceClaim)? {
        get { state.withLock(\.claim) }
        set { state.withLock { $0.claim = newValue } }
    }

    /// Counts bytes of a body that have been received.
    func received(_ bytes: Int) { state.withLock { $0.received += bytes } }

    /// Releases everything. A second call has no effect.
    func release() {
        let former = state.withLock { state in
            defer { (state.host, state.hasSlot, state.slow, state.parked) = (nil, false, nil, nil) }
            return state
        }
        // Called outside of the lock, because it resumes waiters.
        former.host?.release()
        if former.hasSlot { environment.slots.release() }
        former.slow?.release()
        former.parked?.release()
    }

    /// Releases the permit at the first request's host, if no request is sent there.
    func releaseHost() { takeHost()?.release() }

    private func takeHost() -> HostPermit? {
        state.withLock { state in
            defer { state.host = nil }
            return state.host
        }
    }

    // MARK: - The slot

    /// True if the run has a slot.
    var hasSlot: Bool { state.withLock(\.hasSlot) }

    /// Acquires a slot again, exceeding the limit if none is free. The run must not wait, because others wait for its
    /// permits.
    func resumeSlot() {
        let resumes = state.withLock { state in
            guard !state.hasSlot else { return false }
            state.hasSlot = true
            return true
        }
        if resumes { environment.slots.acquireOverLimit() }
        unpark()
    }

    /// Releases the slot, if the run may wait without it.
    ///
    /// - Parameter limit: the limit of parked runs.
    /// - Returns: false if the run has no slot, or keeps it.
    @discardableResult
    private func park(in limit: Slots) -> Bool {
        guard limit.acquire() else { return false }
        let parks = state.withLock { state in
            guard state.hasSlot, state.parked == nil else { return false }
            (state.hasSlot, state.parked) = (false, limit)
            return true
        }
        if parks { environment.slots.release() } else { limit.release() }
        return parks
    }

    private func unpark() {
        let parked = state.withLock { state in
            defer { state.parked = nil }
            return state.parked
        }
        parked?.release()
    }

    /// Runs an exchange with a server, and parks the run while it stalls: its slot is then free for another. Otherwise servers that hang,
    /// or send a byte now and then, would soon hold every slot.
    ///
    /// - Parameter worked: the time that the run has worked so far.
    func parkingWhileIdle<Value>(
        isolation: isolated (any Actor)? = #isolation, worked: @escaping @Sendable () -> Duration,
        _ exchange: () async throws -> Value
    ) async throws -> Value {
        guard isCounted else { return try await exchange() }
        // With its data received, the run must not wait for a slot, because others may wait for its permit at the host.
        defer { resumeSlot() }
        async let _ = parkWhileIdle(worked)
        return try await exchange()
    }

    @concurrent private func parkWhileIdle(_ worked: @Sendable () -> Duration) async {
        var watch = StallWatch(worked: worked(), bytes: state.withLock(\.received))
        var interval = StallWatch.firstInterval
        while (try? await environment.clock.sleep(for: interval)) != nil {
            let received = state.withLock(\.received)
            let isIdle = watch.isIdle(after: interval, worked: worked(), bytes: received)
            interval = hasSlot ? StallWatch.firstInterval : StallWatch.laterInterval
            if watch.isSlow { state.withLock { $0.wasSlow = true } }
            guard isIdle, hasSlot else { continue }
            let limit = received <= Self.fewBytes ? environment.lightlyParked : environment.parked
            if park(in: limit) { interval = StallWatch.laterInterval }
        }
    }

    /// Runs a commit on a server, and parks the run if that takes long: a table that another session keeps locked must
    /// not keep the slots from sources of other tables.
    func parkingWhileCommitting<Value>(
        isolation: isolated (any Actor)? = #isolation, _ commit: () async throws -> Value
    ) async throws -> Value {
        guard environment.store is any SharedStore, hasSlot else { return try await commit() }
        defer { resumeSlot() }
        async let _ = parkWhileCommitting()
        return try await commit()
    }

    @concurrent private func parkWhileCommitting() async {
        guard (try? await environment.clock.sleep(for: .milliseconds(500))) != nil else { return }
        park(in: state.withLock(\.received) <= Self.fewBytes ? environment.lightlyParked : environment.parked)
    }

    // MARK: - Hosts

    /// Returns a permit at a request's host; nil if none is free and the request must not wait. A run with other
    /// permits must not wait, so that runs do not deadlock.
    ///
    /// - Throws: `StoreError` if another daemon may now run the source; `CancellationError`.
    func permit(for request: RequestDeclaration, mayWait: Bool) async throws -> HostPermit? {
        let host = try request.origin()
        guard mayWait else {
            try claim?.check()
            let permit = environment.hosts.permitIfFree(at: host)
            if let permit { checkClaim(beforeEachRequestWith: permit) }
            return permit
        }
        return try await permit(at: host)
    }

    /// Returns a permit at a host. The run releases its slot while it waits, so that a hanging host delays only its own
    /// sources.
    ///
    /// - Throws: `StoreError` if another daemon may now run the source; `CancellationError`.
    func permit(at host: Origin) async throws -> HostPermit {
        let permit = try await freePermit(at: host)
        do {
            try claim?.check()
        } catch {
            permit.release()
            throw error
        }
        checkClaim(beforeEachRequestWith: permit)
        return permit
    }

    /// A process that was suspended while a request waited for its turn may have lost the claim.
    private func checkClaim(beforeEachRequestWith permit: HostPermit) {
        guard let claim else { return }
        permit.beforeEachRequest { try claim.check() }
    }

    private func freePermit(at host: Origin) async throws -> HostPermit {
        if let reserved = takeHost() {
            if reserved.origin == host { return reserved }
            reserved.release()
        }
        if let permit = environment.hosts.permitIfFree(at: host) { return permit }
        guard park(in: environment.parked) else { return try await environment.hosts.permit(at: host) }
        // The run now holds a permit for which others wait with their slots. If it waited for a slot, they would
        // deadlock.
        defer { resumeSlot() }
        return try await environment.hosts.permit(at: host)
    }
}

extension RunEnvironment {
    /// - Parameter origin: the origin of the first request; nil if it is not known yet.
    func admission(to origin: Origin?, in lane: StartQueue.Lane) -> RunPermit.Admission {
        let host = origin.flatMap(hosts.start)
        guard origin == nil || host != nil else { return .hostIsFull }
        let slots = lane == .slow ? slowRuns : slots
        guard slots.acquire() else {
            host?.release()
            return .noSlot
        }
        return .admitted(RunPermit(slots: slots, isSlow: lane == .slow, host: host))
    }
}
