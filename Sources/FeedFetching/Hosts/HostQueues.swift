import DequeModule
import FeedDeclarations
import HeapModule

/// The exchanges at each host: how many are under way, when the last request was sent, and who is next. A value without a
/// clock: its caller passes the uptime.
///
/// A host is a key of the rules: an origin, or all origins of a host that `[hosts]` declares. Requests of runs that have
/// begun come before runs that are to begin, so that what has begun ends.
struct HostQueues {
    /// Who waits: its number, its origin, and what wakes it with true, or with false where it is cancelled.
    struct Waiter {
        var id: Int
        var origin: Origin
        var continuation: CheckedContinuation<Bool, Never>
    }

    struct Host {
        var permits = 0
        /// When the last request began, by the clock's uptime; nil before the first.
        var lastSent: Duration?
        /// The permit of a run that is about to begin: its first request is the host's next.
        var reservation: Int?
        /// Those who wait for a permit, in the order of their arrival.
        var arrivals: Deque<Waiter> = []
        /// Those who have a permit and wait for the rate limit, in the order of their arrival.
        var senders: Deque<Waiter> = []
        /// The origins of runs that were refused, each once, in that order.
        var refused: [Origin] = []
        /// The time of the alarm that is set for this host.
        var alarm: Duration?

        var isIdle: Bool {
            permits == 0 && lastSent == nil && reservation == nil && arrivals.isEmpty && senders.isEmpty
                && refused.isEmpty
        }
    }

    struct Alarm: Comparable {
        var time: Duration
        var key: String

        static func < (one: Alarm, other: Alarm) -> Bool { one.time < other.time }
    }

    /// What a change makes possible.
    struct Effects {
        /// Those who wait no longer.
        var admitted: [Waiter] = []
        /// The origins of refused runs that may ask again.
        var freed: [Origin] = []
    }

    var rules: HostRules
    var hosts: [String: Host] = [:]
    /// The origins of all permits, by the permits' numbers.
    var permits: [Int: Origin] = [:]
    var alarms = Heap<Alarm>()
    var cancelled: Set<Int> = []
    private var lastID = 0

    init(_ rules: HostRules) { self.rules = rules }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    // MARK: - Permits

    /// Returns the number of a permit for a run that is about to begin, and reserves the host's next request for it; nil,
    /// noting the origin as refused, where the host has no permit or its next request is not yet due.
    mutating func start(_ origin: Origin, now: Duration) -> Int? {
        let key = rules.key(of: origin)
        var host = hosts[key] ?? Host()
        defer { store(host, key, now: now) }
        guard host.permits < rules.limit(at: key), isOpen(host, key, now: now) else {
            if !host.refused.contains(origin) { host.refused.append(origin) }
            return nil
        }
        let id = makeID()
        host.permits += 1
        if rules.pace(at: key) != nil { host.reservation = id }
        permits[id] = origin
        return id
    }

    /// Returns the number of a permit; nil where none is free, unless the limit is to be exceeded.
    mutating func acquire(_ origin: Origin, exceedsLimit: Bool = false) -> Int? {
        let key = rules.key(of: origin)
        guard exceedsLimit || hosts[key]?.permits ?? 0 < rules.limit(at: key) else { return nil }
        let id = makeID()
        hosts[key, default: Host()].permits += 1
        permits[id] = origin
        return id
    }

    /// Takes a permit for a waiter, or puts it into the queue. A waiter that was cancelled before it came gets false.
    ///
    /// - Returns: the answer, where there is one already.
    mutating func arrive(_ waiter: Waiter) -> Bool? {
        if cancelled.remove(waiter.id) != nil { return false }
        let key = rules.key(of: waiter.origin)
        guard hosts[key]?.permits ?? 0 < rules.limit(at: key) else {
            hosts[key, default: Host()].arrivals.append(waiter)
            return nil
        }
        hosts[key, default: Host()].permits += 1
        permits[waiter.id] = waiter.origin
        return true
    }

    /// Gives a permit back, and with it its reservation.
    mutating func release(_ id: Int, now: Duration) -> Effects {
        guard let origin = permits.removeValue(forKey: id) else { return Effects() }
        let key = rules.key(of: origin)
        guard var host = hosts[key] else { return Effects() }
        host.permits -= 1
        if host.reservation == id { host.reservation = nil }
        hosts[key] = host
        return advance(key, now: now)
    }

    /// Lets others send the request that is reserved for a permit, which stays taken.
    mutating func endReservation(_ id: Int, now: Duration) -> Effects {
        guard let key = permits[id].map(rules.key), hosts[key]?.reservation == id else { return Effects() }
        hosts[key]?.reservation = nil
        return advance(key, now: now)
    }

    /// True where a permit is one for an origin, too.
    func covers(_ id: Int, _ origin: Origin) -> Bool {
        permits[id].map { $0 == origin || rules.key(of: $0) == rules.key(of: origin) } ?? false
    }

    // MARK: - The rate limit

    /// Notes a request that is sent now, or puts its sender into the queue.
    ///
    /// - Parameter permit: the permit whose reservation the request uses. It ends also where the request goes elsewhere.
    /// - Returns: true where the request is sent; else ``wait(_:now:)`` comes next.
    mutating func send(_ origin: Origin, _ permit: Int?, now: Duration) -> (isSent: Bool, effects: Effects) {
        let key = rules.key(of: origin)
        var effects = Effects()
        let own = permit.flatMap { permits[$0].map(rules.key) }
        let isReserved = own == key && permit != nil && hosts[key]?.reservation == permit
        if isReserved {
            hosts[key]?.reservation = nil
        } else if let permit {
            effects = endReservation(permit, now: now)
        }
        guard rules.pace(at: key) != nil else { return (true, effects) }
        guard isReserved || isOpen(hosts[key] ?? Host(), key, now: now) else { return (false, effects) }
        hosts[key, default: Host()].lastSent = now
        effects.append(advance(key, now: now))
        return (true, effects)
    }

    /// Lets a sender wait for its turn. One that was cancelled before it came gets false.
    ///
    /// - Returns: the answer, where there is one already.
    mutating func wait(_ waiter: Waiter, now: Duration) -> (answer: Bool?, effects: Effects) {
        if cancelled.remove(waiter.id) != nil { return (false, Effects()) }
        let key = rules.key(of: waiter.origin)
        hosts[key, default: Host()].senders.append(waiter)
        var effects = advance(key, now: now)
        guard let own = effects.admitted.firstIndex(where: { $0.id == waiter.id }) else { return (nil, effects) }
        effects.admitted.remove(at: own)
        return (true, effects)
    }

    /// Notes that a host was asked at a time, unless it was asked later.
    mutating func note(_ origin: Origin, sentAt time: Duration) {
        let key = rules.key(of: origin)
        guard rules.pace(at: key) != nil else { return }
        hosts[key, default: Host()].lastSent = max(hosts[key]?.lastSent ?? time, time)
    }

    /// Returns true where a host's next request may be sent now, by whoever comes.
    func isOpen(_ host: Host, _ key: String, now: Duration) -> Bool {
        guard let pace = rules.pace(at: key) else { return true }
        return host.reservation == nil && host.senders.isEmpty && (host.lastSent.map { $0 + pace <= now } ?? true)
    }
}
