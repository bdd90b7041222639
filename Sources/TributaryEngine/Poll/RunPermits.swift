import FeedConfiguration
import FeedFetching
import FeedStores
import FeedModel

/// The shared resources of one run: its place among the runs in progress, its permits at hosts, its room in memory, and
/// its right to run the source.
final class RunPermits: Sendable {
    private struct State {
        /// The permit at the first request's host, until that request uses it.
        var host: HostPermit?
        /// The limit of runs in progress, if the run counts towards it.
        var places: Slots?
        /// True if the run may hold many rows in memory.
        var hasRoom = false
        var claim: (any SourceClaim)?
    }

    private let hosts: HostGate
    private let room: Slots
    private let state: Mutex<State>

    init(_ permit: RunPermit, in environment: RunEnvironment) {
        hosts = environment.hosts
        room = environment.room
        state = Mutex(State(host: permit.host, places: permit.places))
    }

    var claim: (any SourceClaim)? {
        get { state.withLock { $0.claim } }
        set { state.withLock { $0.claim = newValue } }
    }

    /// Takes note that the run's commit has given the claim up, where it does so.
    func endClaim() {
        state.withLock { state in
            if state.claim?.endedWithCommit() == true { state.claim = nil }
        }
    }

    /// Releases everything. A second call has no effect.
    func release() {
        let former = state.withLock { state in
            defer { (state.host, state.places, state.hasRoom) = (nil, nil, false) }
            return state
        }
        // Called outside of the lock, because it resumes waiters.
        former.host?.release()
        former.places?.release()
        if former.hasRoom { room.release() }
    }

    /// Returns true if the run may hold many rows in memory, from now until its end.
    func acquireRoom() -> Bool {
        state.withLock { state in
            if !state.hasRoom { state.hasRoom = room.acquire() }
            return state.hasRoom
        }
    }

    /// Releases the permit at the first request's host, if no request is sent there.
    func releaseHost() { takeHost()?.release() }

    private func takeHost() -> HostPermit? {
        state.withLock { state in
            defer { state.host = nil }
            return state.host
        }
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
            let permit = hosts.permitIfFree(at: host)
            if let permit { checkClaim(beforeEachRequestWith: permit) }
            return permit
        }
        return try await permit(at: host)
    }

    /// Returns a permit at a host.
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
        if let permit = hosts.permitIfFree(at: host) { return permit }
        return try await hosts.permit(at: host)
    }
}

extension RunEnvironment {
    /// - Parameter origin: the origin of the first request; nil if it is not known yet.
    func admission(to origin: Origin?) -> RunPermit.Admission {
        // With many responses that wait to be parsed, a further one would only wait with them.
        guard slots.hasRoom(), places.acquire() else { return .noPlace }
        let host = origin.flatMap(hosts.start)
        guard origin == nil || host != nil else {
            places.release()
            return .hostIsFull
        }
        return .admitted(RunPermit(places: places, host: host))
    }
}
