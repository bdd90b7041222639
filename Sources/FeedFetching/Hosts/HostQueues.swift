import DequeModule
import FeedConfiguration
import HeapModule

/// The exchanges at each host: their number, the time of the last request, and the queues. A value without a clock: its
/// caller passes the uptime.
///
/// A host is a key of the rules: an origin, or all origins of a host that `[hosts]` declares. Requests of runs in
/// progress come before runs that have not begun, so that runs end.
struct HostQueues {
    /// A waiter: its number, its origin, and the function that resumes it with true, or with false after a
    /// cancellation.
    struct Waiter {
        var id: Int
        var origin: Origin
        var continuation: CheckedContinuation<Bool, Never>
    }

    struct Host {
        var permits = 0
        /// The uptime of the last request; nil before the first.
        var lastSent: Duration?
        /// The permit whose run sends the host's next request.
        var reservation: Int?
        /// The waiters for a permit, in the order of their arrival.
        var arrivals: Deque<Waiter> = []
        /// The waiters with a permit for the rate limit, in the order of their arrival.
        var senders: Deque<Waiter> = []
        /// The origins of refused runs, each once, in the order of the refusals.
        var refused: [Origin] = []
        /// The uptime of this host's alarm.
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

    /// The effects of a change, which the gate carries out.
    struct Effects {
        /// The admitted waiters.
        var admitted: [Waiter] = []
        /// The origins of refused runs that may try again.
        var freed: [Origin] = []
    }

    var rules: HostRules
    var hosts: [String: Host] = [:]
    /// The origins of all permits, by the permits' numbers.
    var permits: [Int: Origin] = [:]
    var alarms = Heap<Alarm>()
    var cancelled: Set<Int> = []
    /// The uptimes until which servers want no request (Retry-After), by their origins.
    private(set) var closed: [Origin: Duration] = [:]
    /// The origins of runs that were refused for a rate limit, since the last look at them.
    private var newlyLimited: [Origin] = []
    private var lastID = 0

    init(_ rules: HostRules) { self.rules = rules }

    mutating func makeID() -> Int {
        lastID += 1
        return lastID
    }

    // MARK: - Permits

    /// Returns the number of a permit for a run that is about to begin, and reserves the host's next request for it. If
    /// the host has no free permit, or its next request is not yet due, notes the origin as refused and returns nil.
    mutating func start(_ origin: Origin, now: Duration) -> Int? {
        let key = rules.key(of: origin)
        var host = hosts.removeValue(forKey: key) ?? Host()
        defer { store(host, key, now: now) }
        guard host.permits < rules.limit(at: key), isOpen(host, key, now: now) else {
            if !host.refused.contains(origin) {
                host.refused.append(origin)
                if rules.pace(at: key) != nil { newlyLimited.append(origin) }
            }
            return nil
        }
        let id = makeID()
        host.permits += 1
        if rules.pace(at: key) != nil { host.reservation = id }
        permits[id] = origin
        return id
    }

    /// Returns the origins of runs that have been refused for the rate limit of their hosts since the last call.
    mutating func takeNewlyLimited() -> [Origin] {
        defer { newlyLimited = [] }
        return newlyLimited
    }

    /// Returns the number of a permit; nil if none is free, unless `exceedsLimit` is true.
    mutating func acquire(_ origin: Origin, exceedsLimit: Bool = false) -> Int? {
        let key = rules.key(of: origin)
        guard exceedsLimit || hosts[key]?.permits ?? 0 < rules.limit(at: key) else { return nil }
        let id = makeID()
        hosts[key, default: Host()].permits += 1
        permits[id] = origin
        return id
    }

    /// Acquires a permit for a waiter, or enqueues it. A waiter that was cancelled before its arrival receives false.
    ///
    /// - Returns: the answer; nil if the waiter was enqueued.
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

    /// Releases a permit, and its reservation.
    mutating func release(_ id: Int, now: Duration) -> Effects {
        guard let origin = permits.removeValue(forKey: id) else { return Effects() }
        let key = rules.key(of: origin)
        guard hosts[key] != nil else { return Effects() }
        hosts[key]?.permits -= 1
        if hosts[key]?.reservation == id { hosts[key]?.reservation = nil }
        return advance(key, now: now)
    }

    /// Ends the reservation of a permit, which stays acquired.
    mutating func endReservation(_ id: Int, now: Duration) -> Effects {
        guard let key = permits[id].map(rules.key), hosts[key]?.reservation == id else { return Effects() }
        hosts[key]?.reservation = nil
        return advance(key, now: now)
    }

    /// Returns true if a permit is valid for an origin.
    func covers(_ id: Int, _ origin: Origin) -> Bool {
        permits[id].map { $0 == origin || rules.key(of: $0) == rules.key(of: origin) } ?? false
    }

    // MARK: - The pauses that servers request

    /// The shortest rest of a pause that is waited for. The time of day, which gives the end, is less precise.
    private static let shortestPause = Duration.milliseconds(1)

    /// Notes that a server wants no request until an uptime. Removes the pauses that are over, because servers choose
    /// the names of origins.
    mutating func close(_ origin: Origin, until end: Duration, now: Duration) {
        closed = closed.filter { $0.value > now }
        closed[origin] = max(closed[origin] ?? end, end)
    }

    /// Returns the rest of an origin's pause; nil without one.
    func pause(of origin: Origin, now: Duration) -> Duration? {
        closed[origin].flatMap { $0 - now > Self.shortestPause ? $0 - now : nil }
    }

    // MARK: - The rate limit

    /// Notes a request that may be sent now.
    ///
    /// - Parameter permit: the permit whose reservation the request uses. The reservation ends for any origin.
    /// - Returns: true if the request may be sent; else call ``wait(_:now:)``.
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

    /// Enqueues a sender. One that was cancelled before its arrival receives false.
    ///
    /// - Returns: the answer; nil if the sender was enqueued.
    mutating func wait(_ waiter: Waiter, now: Duration) -> (answer: Bool?, effects: Effects) {
        if cancelled.remove(waiter.id) != nil { return (false, Effects()) }
        let key = rules.key(of: waiter.origin)
        hosts[key, default: Host()].senders.append(waiter)
        var effects = advance(key, now: now)
        guard let own = effects.admitted.firstIndex(where: { $0.id == waiter.id }) else { return (nil, effects) }
        effects.admitted.remove(at: own)
        return (true, effects)
    }

    /// Notes a past request to a host, unless a later one is known.
    mutating func note(_ origin: Origin, sentAt time: Duration) {
        let key = rules.key(of: origin)
        guard rules.pace(at: key) != nil else { return }
        hosts[key, default: Host()].lastSent = max(hosts[key]?.lastSent ?? time, time)
    }

    /// Returns true if any sender may send a host's next request now.
    func isOpen(_ host: Host, _ key: String, now: Duration) -> Bool {
        guard let pace = rules.pace(at: key) else { return true }
        return host.reservation == nil && host.senders.isEmpty && (host.lastSent.map { $0 + pace <= now } ?? true)
    }

    // MARK: - The waiters, and the alarms that wake them

    /// Removes a waiter from the queues. A waiter that has not arrived yet receives false when it does.
    mutating func cancel(_ id: Int, _ origin: Origin, now: Duration) -> (waiter: Waiter?, effects: Effects) {
        let key = rules.key(of: origin)
        if let index = hosts[key]?.arrivals.firstIndex(where: { $0.id == id }) {
            return (hosts[key]?.arrivals.remove(at: index), Effects())
        }
        if let index = hosts[key]?.senders.firstIndex(where: { $0.id == id }) {
            let waiter = hosts[key]?.senders.remove(at: index)
            return (waiter, advance(key, now: now))
        }
        cancelled.insert(id)
        return (nil, Effects())
    }

    /// Removes the mark of a cancellation after the answer.
    mutating func forgetCancellation(_ id: Int) { cancelled.remove(id) }

    /// The uptime of the first alarm; nil without one.
    mutating func nextAlarm() -> Duration? {
        while let alarm = alarms.min {
            if hosts[alarm.key]?.alarm == alarm.time { return alarm.time }
            alarms.removeMin()
        }
        return nil
    }

    /// Admits the waiters whose time has come.
    mutating func wake(now: Duration) -> Effects {
        var effects = Effects()
        while let time = nextAlarm(), time <= now, let alarm = alarms.popMin() {
            hosts[alarm.key]?.alarm = nil
            effects.append(advance(alarm.key, now: now))
        }
        return effects
    }

    /// Changes the rules. Permits stay acquired; the new rules apply to waiters.
    mutating func setRules(_ rules: HostRules, now: Duration) -> Effects {
        let former = hosts
        let reservations = Set(former.values.compactMap(\.reservation))
        self.rules = rules
        hosts = [:]
        alarms = Heap()
        for (key, host) in former where host.lastSent != nil && rules.pace(at: key) != nil {
            hosts[key] = Host(lastSent: host.lastSent)
        }
        for (id, origin) in permits {
            let key = rules.key(of: origin)
            hosts[key, default: Host()].permits += 1
            if reservations.contains(id), rules.pace(at: key) != nil { hosts[key]?.reservation = id }
        }
        for waiter in former.values.flatMap(\.arrivals).sorted(by: { $0.id < $1.id }) {
            hosts[rules.key(of: waiter.origin), default: Host()].arrivals.append(waiter)
        }
        for waiter in former.values.flatMap(\.senders).sorted(by: { $0.id < $1.id }) {
            hosts[rules.key(of: waiter.origin), default: Host()].senders.append(waiter)
        }
        for origin in former.values.flatMap(\.refused) {
            hosts[rules.key(of: origin), default: Host()].refused.append(origin)
        }
        return hosts.keys.reduce(into: Effects()) { $0.append(advance($1, now: now)) }
    }

    /// Admits the waiters that may send a request to a host now, and sets the alarm for the others.
    mutating func advance(_ key: String, now: Duration) -> Effects {
        // Removed while it changes, because a second reference would copy its queues.
        guard var host = hosts.removeValue(forKey: key) else { return Effects() }
        var effects = Effects()
        let pace = rules.pace(at: key)
        while !host.senders.isEmpty, host.reservation == nil, host.lastSent.map({ $0 + (pace ?? .zero) <= now }) ?? true
        {
            effects.admitted.append(host.senders.removeFirst())
            if pace != nil { host.lastSent = now }
        }
        while host.permits < rules.limit(at: key), let waiter = host.arrivals.popFirst() {
            effects.admitted.append(waiter)
            host.permits += 1
            permits[waiter.id] = waiter.origin
        }
        if host.permits < rules.limit(at: key), isOpen(host, key, now: now) {
            effects.freed = host.refused
            host.refused = []
        }
        store(host, key, now: now)
        return effects
    }

    /// Stores a host that has been removed, unless it is idle.
    mutating func store(_ host: consuming Host, _ key: String, now: Duration) {
        if let pace = rules.pace(at: key), let last = host.lastSent, host.reservation == nil,
            !host.senders.isEmpty || !host.refused.isEmpty
        {
            // After its interval, a host waits for a permit, not for an alarm.
            let time = last + pace
            if time > now, host.alarm != time {
                host.alarm = time
                alarms.insert(Alarm(time: time, key: key))
            }
        }
        if !host.isIdle { hosts[key] = host }
    }
}

extension HostQueues.Effects {
    mutating func append(_ other: HostQueues.Effects) {
        admitted += other.admitted
        freed += other.freed
    }
}
