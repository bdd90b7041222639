import DequeModule
import FeedConfiguration
import HeapModule

/// The waiters, and the alarms that wake them.
extension HostQueues {
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
