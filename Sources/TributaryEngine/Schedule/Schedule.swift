import DequeModule
package import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStores
import Foundation

/// The scheduler's state and decisions: which sources run, which wait, and which starts next. A value without a clock.
/// Events change it; the scheduler takes starts from it.
struct Schedule {
    struct Start {
        var source: SourceDeclaration
        var mode: RefreshMode
        var permit: RunPermit
    }

    /// The load of the schedule.
    struct Load: Sendable, Equatable {
        var running = 0
        var waiting = 0
        /// The due time of the source that waits longest.
        var waitingSince: Date?
    }

    private var sources: [String: SourceDeclaration] = [:]
    /// The sources of this daemon; nil if no other daemon shares the store.
    private var owned: Set<String>?
    private var queue = DueQueue()
    /// Sources that are due.
    private var ready = StartQueue()
    /// The due sources that have not been started.
    private var waits = WaitList()
    private var running: Set<String> = []
    /// The runs that began a second ago at most and have no answer yet. Their number is limited, so that a burst looks up
    /// few names and opens few connections at a time. It does not delay sources whose servers answer promptly.
    private var recent = WaitList()
    static let mostRecent = 100
    private static let secondsOfRecent = 1.0
    /// Sources whose next run was requested, and ignores due times.
    private var requested: Set<String> = []
    /// The times of the last requests to refresh sources that this daemon did not own.
    private var requestedWhileUnowned: [String: Date] = [:]
    /// The most seconds for the move of a source from one daemon to another.
    private static let secondsOfHandover = 60.0
    /// Another source waits for a first run that begins within so many seconds.
    private static let secondsUntilFirst = 300.0
    /// Sources whose declaration changed during their run.
    private var changed: Set<String> = []
    private var firstRuns: FirstRuns
    /// Sources during whose last run a process died.
    private var suspects: Set<String>
    /// The mode in which each source runs once; nil for a continuous schedule.
    private var once: RefreshMode?

    /// Creates a schedule that runs each enabled source whenever it is due.
    init(
        _ configuration: TributaryConfiguration, parsers: ParserRegistry = ParserRegistry([]),
        states: [String: SourceState], now: Date
    ) {
        firstRuns = FirstRuns(parsers)
        suspects = Self.suspects(states)
        var (first, later): ([SourceDeclaration], [SourceDeclaration]) = ([], [])
        for source in configuration.enabledSources {
            sources[source.name] = source
            let due = DueTime.start(source, state: states[source.name], now: now)
            queue.schedule(source.name, at: Self.look(at: due, now: now))
            if Self.isFirst(source, states[source.name], now: now) {
                first.append(source)
            } else if states[source.name]?.lastCommit == nil {
                later.append(source)
            }
        }
        firstRuns.addFailed(later)
        firstRuns.add(first)
    }

    /// Creates the schedule of a daemon that shares the sources with others, without a source of its own.
    init(sharing configuration: TributaryConfiguration, parsers: ParserRegistry = ParserRegistry([])) {
        firstRuns = FirstRuns(parsers)
        suspects = []
        owned = []
        sources = Dictionary(uniqueKeysWithValues: configuration.enabledSources.map { ($0.name, $0) })
    }

    /// Creates a schedule that runs each of these sources once, as soon as possible.
    init(
        once mode: RefreshMode, _ sources: [SourceDeclaration], parsers: ParserRegistry = ParserRegistry([]),
        states: [String: SourceState], now: Date
    ) {
        firstRuns = FirstRuns(parsers)
        suspects = Self.suspects(states)
        once = mode
        firstRuns.add(sources.filter { states[$0.name]?.lastCommit == nil })
        for source in sources {
            self.sources[source.name] = source
            ready(source)
        }
    }

    /// Returns true for a source without a commit that runs now, or again soon.
    private static func isFirst(_ source: SourceDeclaration, _ state: SourceState?, now: Date) -> Bool {
        state?.lastCommit == nil && DueTime.start(source, state: state, now: now) <= now + secondsUntilFirst
    }

    private static func suspects(_ states: [String: SourceState]) -> Set<String> {
        Set(states.values.filter { $0.attempts > 0 }.map(\.source))
    }

    /// True if due sources wait only because many others have begun and have no answer yet.
    private var isHeldUp: Bool { !ready.isEmpty && recent.count >= Self.mostRecent }

    /// The next time to check for due sources; nil without sources.
    var nextWake: Date? {
        mutating get {
            let next = isHeldUp ? recent.longest.map { $0 + Self.secondsOfRecent } : nil
            return [queue.nextDue(), next, ready.nextSuspect].compactMap(\.self).min()
        }
    }

    /// The load of the schedule.
    var load: Load {
        mutating get {
            Load(running: running.count, waiting: waits.count, waitingSince: waits.longest)
        }
    }

    /// True if the sources are run once, and none is running or waiting to run.
    var isDone: Bool { once != nil && running.isEmpty && ready.isEmpty && firstRuns.isEmpty }

    /// Schedules sources for a run now; all sources for nil. A running source runs again after its run. A source of
    /// another daemon runs if this daemon takes it over soon, unless it has run meanwhile.
    mutating func refresh(_ names: [String]?, now: Date) {
        for name in names ?? sources.keys.sorted() where sources[name] != nil {
            if isOwned(name) { request(name) } else { requestedWhileUnowned[name] = now }
        }
    }

    private func isOwned(_ name: String) -> Bool { sources[name] != nil && owned?.contains(name) ?? true }

    /// Takes over sources that another daemon may have run before.
    mutating func assign(_ names: Set<String>, _ states: [String: SourceState], now: Date) {
        owned?.formUnion(names)
        suspects.formUnion(Self.suspects(states.filter { names.contains($0.key) && !running.contains($0.key) }))
        let new = names.compactMap { sources[$0] }.filter {
            states[$0.name]?.lastCommit == nil && !running.contains($0.name)
        }
        firstRuns.addFailed(new.filter { !Self.isFirst($0, states[$0.name], now: now) })
        begin(firstRuns.add(new.filter { Self.isFirst($0, states[$0.name], now: now) }))
        for name in names {
            wait(for: name, states[name], now: now)
            guard let requestedAt = requestedWhileUnowned.removeValue(forKey: name) else { continue }
            let isOpen = now.timeIntervalSince(requestedAt) < Self.secondsOfHandover
            if isOpen, states[name]?.lastRun ?? .distantPast < requestedAt { request(name) }
        }
    }

    /// Releases sources to another daemon. Runs in progress end first.
    mutating func release(_ names: Set<String>, now: Date) {
        owned?.subtract(names)
        for name in names {
            queue.remove(name)
            if requested.remove(name) != nil { requestedWhileUnowned[name] = now }
            changed.remove(name)
            if !running.contains(name) {
                endFirstRun(of: name)
                firstRuns.forget(name)
            }
        }
    }

    /// Updates the due times of sources that another process has run. A different declaration of the other process does
    /// not make a source due.
    mutating func updateDueTimes(from states: [String: SourceState], now: Date) {
        for (name, var state) in states where isOwned(name) && !requested.contains(name) {
            state.declared = nil
            wait(for: name, state, now: now)
            if let source = sources[name], !running.contains(name), !Self.isFirst(source, state, now: now) {
                endFirstRun(of: name)
                if state.lastCommit != nil { retry(firstRuns.committed(name)) }
            }
        }
    }

    private mutating func wait(for name: String, _ state: SourceState?, now: Date) {
        // A running source is scheduled when its run has ended.
        guard let source = sources[name], !running.contains(name) else { return }
        queue.schedule(name, at: Self.look(at: DueTime.start(source, state: state, now: now), now: now))
    }

    private mutating func request(_ name: String) {
        requested.insert(name)
        if !running.contains(name) { queue.schedule(name, at: .distantPast) }
    }

    private mutating func ready(_ source: SourceDeclaration) {
        ready.add(source.name, origin: source.firstOrigin, isSuspect: suspects.contains(source.name))
    }

    /// Applies a new configuration. Unchanged sources keep their due times; new and changed ones are due. The identity by
    /// which a run recognizes a change does not include the secrets of `auth`. A source whose credentials have changed is
    /// therefore requested.
    mutating func reload(_ configuration: TributaryConfiguration, now: Date) {
        let former = sources
        sources = Dictionary(uniqueKeysWithValues: configuration.enabledSources.map { ($0.name, $0) })
        for name in former.keys where sources[name] == nil {
            queue.remove(name)
            requested.remove(name)
            requestedWhileUnowned[name] = nil
            changed.remove(name)
            if !running.contains(name) {
                endFirstRun(of: name)
                firstRuns.forget(name)
            }
        }
        begin(firstRuns.add(sources.values.filter { former[$0.name] == nil && isOwned($0.name) }))
        for (name, source) in sources where former[name] != source {
            guard isOwned(name) else { continue }
            if let old = former[name], old.credentials != source.credentials {
                request(name)
            } else if running.contains(name) {
                changed.insert(name)
            } else {
                queue.schedule(name, at: now)
            }
        }
    }

    /// Adjusts to a clock that was set: each source waits as long as before.
    mutating func clockWasSet(from former: Date, to now: Date) {
        recent = WaitList()
        queue.shift(by: now.timeIntervalSince(former)) { [sources] name, due in
            // Schedules by time of day follow the new clock.
            guard let schedule = sources[name]?.schedule, schedule.has(due) else { return nil }
            return min(due, schedule.next(after: now))
        }
    }

    /// Returns the number of due sources that wait for this origin.
    func waiting(at origin: Origin) -> Int { ready.waiting(at: origin) }

    /// Notes that this origin has a free permit.
    mutating func free(_ origin: Origin) { ready.free(origin) }

    /// Notes that the servers of a running source have answered.
    ///
    /// - Returns: true if a run may begin that could not begin before.
    mutating func answered(_ name: String) -> Bool {
        let wasHeldUp = isHeldUp
        recent.remove(name)
        return wasHeldUp && !isHeldUp
    }

    /// - Parameters:
    ///   - hasCommitted: true after a commit. Sources without one that need its rows run at once.
    ///   - waited: the seconds since the end of the run, for which its record has waited.
    ///   - jitter: from 0 to 1; spreads sources that were due together.
    mutating func finished(
        _ name: String, nextDue: Date?, hasCommitted: Bool = false, ago waited: Double = 0, now: Date,
        jitter: Double = 0
    ) {
        running.remove(name)
        recent.remove(name)
        suspects.remove(name)
        ready.finished(name)
        endFirstRun(of: name)
        if hasCommitted { retry(firstRuns.committed(name)) }
        let isChanged = changed.remove(name) != nil
        guard once == nil, let source = sources[name], isOwned(name) else { return }
        // The next run is at least a second later, even with a shorter cache interval.
        let due = Self.look(at: max(nextDue ?? now + source.cache.seconds, now + 1 - waited), now: now)
        // Sources with a schedule are not spread.
        let spread = source.schedule == nil ? jitter * min(30, source.cache.seconds / 20) : 0
        queue.schedule(name, at: requested.contains(name) || isChanged ? .distantPast : due + spread)
    }

    private mutating func endFirstRun(of name: String) {
        if firstRuns.holds(name) { waits.remove(name) }
        begin(firstRuns.ended(name))
    }

    private mutating func retry(_ names: [String]) {
        guard once == nil else { return }
        for name in names where isOwned(name) { request(name) }
    }

    private mutating func begin(_ names: [String]) {
        for name in names {
            if let source = sources[name] { ready(source) }
        }
    }

    /// Returns the time at which to check a source. Sources that are never due are checked, too, because another
    /// process may have resumed them.
    private static func look(at due: Date, now: Date) -> Date {
        due == .distantFuture ? now + DueTime.longestRetry.seconds : due
    }

    /// Returns the runs to start now.
    ///
    /// - Parameter admit: returns the permit that a run needs to begin, if it is free.
    mutating func takeStarts(now: Date, admit: (_ origin: Origin?) -> RunPermit.Admission) -> [Start] {
        while let due = queue.nextDue(), let name = queue.popDue(by: now) {
            // A running source is scheduled again when its run has ended.
            if let source = sources[name], isOwned(name), !running.contains(name), !firstRuns.holds(name) {
                ready(source)
                waits.add(name, since: due == .distantPast ? now : due)
            }
        }
        var starts: [Start] = []
        while mayBegin(now: now), let (name, permit) = ready.next(at: now, admit) {
            guard !firstRuns.hold(name) else {
                permit.release()
                ready.finished(name)
                continue
            }
            waits.remove(name)
            guard let source = sources[name], isOwned(name) else {
                permit.release()
                ready.finished(name)
                continue
            }
            running.insert(name)
            recent.add(name, since: now)
            let mode = requested.remove(name) != nil ? .force : once ?? .whenDue
            starts.append(Start(source: source, mode: mode, permit: permit))
        }
        return starts
    }

    private mutating func mayBegin(now: Date) -> Bool {
        guard recent.count >= Self.mostRecent else { return true }
        recent.remove(until: now - Self.secondsOfRecent)
        return recent.count < Self.mostRecent
    }
}

extension SourceDeclaration {
    /// The origin of the first request; nil if it depends on a response or the store.
    package var firstOrigin: Origin? {
        guard !requests.isEmpty, !requests[0].url.isDynamic else { return nil }
        return try? requests[0].origin()
    }
}

/// Sources with the start of their wait, or of their run, added roughly in the order of these times.
struct WaitList {
    private var order: Deque<(name: String, since: Date)> = []
    private var current: [String: Date] = [:]

    var count: Int { current.count }

    /// The start of the longest wait.
    var longest: Date? {
        mutating get {
            // Sources that no longer wait are removed lazily.
            while let first = order.first, current[first.name] != first.since { order.removeFirst() }
            return order.first?.since
        }
    }

    /// Adds a source, unless it waits already.
    mutating func add(_ name: String, since: Date) {
        guard current[name] == nil else { return }
        current[name] = since
        // Removes started sources, so that a long wait does not keep their entries.
        if order.count > 2 * current.count + 64 { order.removeAll { current[$0.name] != $0.since } }
        order.append((name, since))
    }

    mutating func remove(_ name: String) { current[name] = nil }

    /// Removes the sources since a time or an earlier one.
    mutating func remove(until time: Date) {
        while let first = longest, first <= time { remove(order.removeFirst().name) }
    }
}
