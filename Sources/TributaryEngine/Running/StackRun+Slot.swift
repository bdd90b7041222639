import FeedDeclarations
import FeedFetching

/// What a run shares with others: its slot, which it lends to them while it waits, and the places at hosts.
extension StackRun {
    /// A run that has worked for less than a quarter of this long, this long, waits for the network.
    private static let patience = Duration.seconds(1)

    /// Exchanges something with a server, and lets another run go on while nothing comes of it: servers that hang or send a
    /// byte now and then would have every slot before long.
    func lendingSlot<Value>(_ exchange: () async throws -> Value) async throws -> Value {
        guard permit.slot != nil else { return try await exchange() }
        defer {
            absence = nil
            // Whoever comes with what it has been sent does not wait: others may wait for its place at the host.
            if permit.slot == nil { permit.slot = environment.slots.placeRegardless(at: RunPermit.slotKey) }
        }
        async let _ = lendSlotWhileIdle()
        return try await exchange()
    }

    private func lendSlotWhileIdle() async {
        var worked = executor.timeWorked
        while (try? await Task.sleep(for: Self.patience)) != nil {
            defer { worked = executor.timeWorked }
            guard executor.timeWorked - worked < Self.patience / 4, permit.slot != nil, absence == nil,
                let free = environment.absences.placeIfFree(at: RunPermit.slotKey)
            else { continue }
            absence = free
            permit.slot = nil
        }
    }

    /// A place at a request's host. Who holds others must not wait for one more: everybody might.
    func place(for request: RequestDeclaration, mayWait: Bool) async throws -> HostLimiter.Place? {
        let host = try request.origin()
        return mayWait ? try await place(at: host) : environment.hosts.placeIfFree(at: host)
    }

    /// A place at a host. Who has to wait for one lets another run go on meanwhile: a host that hangs delays its own
    /// sources only.
    func place(at host: String) async throws -> HostLimiter.Place {
        let reserved = permit.place
        permit.place = nil
        if let reserved, reserved.key == host { return reserved }
        if let place = environment.hosts.placeIfFree(at: host) { return place }
        guard permit.slot != nil, let absence = environment.absences.placeIfFree(at: RunPermit.slotKey) else {
            return try await environment.hosts.place(at: host)
        }
        permit.slot = nil
        let place = try await environment.hosts.place(at: host)
        // It has what others wait for with their slots: were it to wait for one of those, nobody would ever go on.
        permit.slot = environment.slots.placeRegardless(at: RunPermit.slotKey)
        withExtendedLifetime(absence) {}
        return place
    }
}
