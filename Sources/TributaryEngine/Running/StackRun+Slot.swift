import FeedDeclarations
import FeedFetching
import FeedStores

/// The resources that a run shares with others: its slot, which it lends while it waits, and the places at hosts.
extension StackRun {
    /// A run that has received no more than this holds little memory.
    private static let fewBytes = 64 << 10

    /// Runs an exchange with a server, and lends the slot to another run while it stalls. Otherwise servers that hang,
    /// or send a byte now and then, would soon hold every slot.
    func lendingSlot<Value>(_ exchange: () async throws -> Value) async throws -> Value {
        guard permit.slot != nil || permit.slowPlace != nil else { return try await exchange() }
        defer {
            absence = nil
            // With its data received, the run does not wait for a slot: others may wait for its place at the host.
            if permit.slot == nil { permit.slot = environment.slots.placeRegardless(at: RunPermit.slotKey) }
        }
        async let _ = lendSlotWhileIdle()
        return try await exchange()
    }

    private func lendSlotWhileIdle() async {
        var watch = StallWatch(worked: executor.timeWorked, bytes: received)
        var interval = StallWatch.firstInterval
        while (try? await Task.sleep(for: interval)) != nil {
            let isIdle = watch.isIdle(after: interval, worked: executor.timeWorked, bytes: received)
            interval = permit.slot == nil ? StallWatch.laterInterval : StallWatch.firstInterval
            if watch.isSlow { wasSlow = true }
            guard isIdle, permit.slot != nil, absence == nil else { continue }
            let limiter = received <= Self.fewBytes ? environment.lightAbsences : environment.absences
            guard let free = limiter.placeIfFree(at: RunPermit.slotKey) else { continue }
            absence = free
            permit.slot = nil
            interval = StallWatch.laterInterval
        }
    }

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
        let reserved = permit.place
        permit.place = nil
        if let reserved, reserved.key == host { return reserved }
        if let place = environment.hosts.placeIfFree(at: host) { return place }
        guard permit.slot != nil, let absence = environment.absences.placeIfFree(at: RunPermit.slotKey) else {
            return try await environment.hosts.place(at: host)
        }
        permit.slot = nil
        let place = try await environment.hosts.place(at: host)
        // The run holds a place that others wait for while they keep their slots. If it waited for such a slot, none
        // could go on.
        permit.slot = environment.slots.placeRegardless(at: RunPermit.slotKey)
        withExtendedLifetime(absence) {}
        return place
    }
}
