import FeedConfiguration
import FeedModel
import FeedStores
import Foundation

/// The undelivered events of a hook, read from the store in batches of runs. Blocks its thread.
struct HookQueue {
    /// An event with the hook's progress after it, or a progress without an event.
    struct Item {
        /// nil if only the hook's memory changes.
        var event: HookEvent?
        /// The progress to store afterwards.
        var progress: HookProgress
        /// The run whose changed rows belong to the event.
        var changesOf: ChangelogRun?
        /// A timed event that must be noted in the store before it is delivered.
        var pending: TimedEvent?
    }

    /// The number of runs in a batch.
    private static let pageSize = 200

    private let hook: HookDeclaration
    private let store: any MainStore
    /// The hook's stored state.
    private var state: HookState
    private var memories: [String: HookMemory]
    /// The runs that were read and not handled, and the position up to which runs were read.
    private var runs: ArraySlice<ChangelogRun> = []
    private(set) var readTo: RunPosition
    /// A run whose events were delivered in part before it was deleted.
    private var lostRun: RunPosition?
    /// The failing sources; nil after a run was read.
    private var failingSources: [FailingSource]?
    /// The time at which the states of sources were read last, and the time before which none becomes stale. A
    /// successful run postpones the latter.
    private var fresh: (sources: WatchedSources, times: Range<Date>)?
    /// The runs with undelivered events, and all runs, that ``countUnsent(limit:)`` has read.
    private var counted: (unsent: Int, read: Int, first: ChangelogRun?) = (0, 0, nil)

    init(_ hook: HookDeclaration, _ store: any MainStore, state: HookState) throws {
        self.hook = hook
        self.store = store
        self.state = state
        readTo = state.position
        memories = try store.read { try $0.hooks.memories(of: hook.name) }
        guard state.step > 0 else { return }
        if let run = try store.read({ try $0.changelog.run(state.position.run) }) {
            runs = [run]
        } else {
            lostRun = state.position
        }
    }

    /// Reads the failing sources again before the next event.
    mutating func look() { failingSources = nil }

    /// Returns true if a state is that of the queue.
    ///
    /// - Parameter declared: the hook's declaration.
    func stands(for other: HookState, of declared: HookDeclaration) -> Bool {
        guard hook == declared else { return false }
        guard (state.position, state.step, state.pending) == (other.position, other.step, other.pending) else {
            return false
        }
        // Stores keep milliseconds.
        let (own, theirs) = (state.deliveredAt ?? .distantPast, other.deliveredAt ?? .distantPast)
        return abs(own.timeIntervalSince(theirs)) < 0.002
    }

    /// Notes that the store has the event that is delivered next.
    mutating func began(_ event: String, after progress: HookProgress) {
        (state.pending, state.position, state.step) = (event, progress.position, progress.step)
    }

    /// Notes a stored progress.
    mutating func advanced(_ progress: HookProgress) {
        state.position = progress.position
        state.step = progress.step
        state.deliveredAt = progress.deliveredAt ?? state.deliveredAt
        readTo = max(readTo, progress.position)
        state.pending = nil
        if progress.step == 0 { lostRun = nil }
        if let (source, known) = progress.memory { memories[source] = known == HookMemory() ? nil : known }
    }

    /// Returns the next item; nil without one.
    ///
    /// - Returns: also the time at which a source will have failed for long enough, or may become stale.
    /// - Throws: `StoreError`; `CancellationError`, because there may be many runs without an event.
    mutating func next(of sources: WatchedSources, now: Date) throws -> (item: Item?, due: Date?) {
        if let pending = state.pending {
            var progress = HookProgress(position: state.position, step: state.step)
            guard let timed = TimedEvent(pending), sources.names.contains(timed.source),
                hook.events.contains(timed.kind), hook.concerns(timed.source)
            else { return (Item(event: nil, progress: progress), nil) }
            progress.memory = (timed.source, timed.noted(in: memories[timed.source]))
            return (Item(event: timed.event(for: hook), progress: progress), nil)
        }
        while true {
            if let run = runs.first {
                if let item = try item(of: run) { return (item, nil) }
                runs.removeFirst()
                continue
            }
            try Task.checkCancellation()
            let page = try store.read { try $0.changelog.page(after: readTo, limit: Self.pageSize) }
            guard let last = page.runs.last else { break }
            if page.hasForgotten || lostRun != nil {
                return (forgotten(before: page.runs[0], others: page.hasForgotten), nil)
            }
            readTo = last.position
            failingSources = nil
            runs = page.runs.filter { hook.concerns($0.report.source) }[...]
        }
        return try byTheClock(sources, now: now)
    }

    /// Returns the number of runs with undelivered events, and the first of them. A later call reads only the runs that
    /// have ended since. The queue cannot be used for anything else afterwards.
    ///
    /// - Parameter limit: the most runs to read, in all calls.
    /// - Throws: `StoreError`; `CancellationError`.
    mutating func countUnsent(limit: Int) throws -> (count: Int, first: ChangelogRun?) {
        while true {
            for run in runs where isSent(run) {
                counted.unsent += 1
                counted.first = counted.first ?? run
            }
            runs = []
            guard counted.read < limit else { break }
            try Task.checkCancellation()
            let page = try store.read { try $0.changelog.page(after: readTo, limit: Self.pageSize) }
            guard let last = page.runs.last else { break }
            counted.read += page.runs.count
            readTo = last.position
            runs = page.runs.filter { hook.concerns($0.report.source) }[...]
        }
        return (counted.unsent, counted.first)
    }

    /// Returns true if a run has an event for the hook, and updates the hook's memory.
    private mutating func isSent(_ run: ChangelogRun) -> Bool {
        var step = run.position == state.position ? state.step : 1
        guard step > 0 else { return false }
        var memory = memories[run.report.source] ?? HookMemory()
        var isSent = false
        while let next = HookDecision.next(of: run, from: step, memory, hook) {
            isSent = isSent || next.isSent
            memory = next.memory
            step = next.step.rawValue + 1
        }
        memories[run.report.source] = memory
        return isSent
    }

    private func item(of run: ChangelogRun) throws -> Item? {
        let source = run.report.source
        let first = run.position == state.position ? state.step : 1
        let memory = memories[source] ?? HookMemory()
        guard first > 0, let next = HookDecision.next(of: run, from: first, memory, hook) else { return nil }
        let isLast = HookDecision.next(of: run, from: next.step.rawValue + 1, next.memory, hook) == nil
        let progress = HookProgress(
            position: run.position, step: isLast ? 0 : next.step.rawValue + 1,
            memory: next.memory == memory ? nil : (source, next.memory))
        guard next.isSent else { return Item(event: nil, progress: progress) }
        var report: RunReport? = run.report
        var event: HookEvent
        switch next.step {
        case .failing:
            // The same event as a timed one. A successful run ends the failure, so the event names the last failed run.
            if run.report.outcome.isGood { report = try lastFailure(before: run) }
            let since = run.report.failingSince ?? run.report.startedAt
            event = TimedEvent(failing: source, since: since, hook).event(for: hook)
            event.run = report?.number
            event.error = report?.error
        case .blocked: event = self.event(.blocked, run)
        case .recovered: event = self.event(.recovered, run)
        case .changed: event = self.event(.changed, run)
        case .drifted: event = self.event(.drifted, run)
        }
        event.report = report
        return Item(event: event, progress: progress, changesOf: next.step == .changed ? run : nil)
    }

    /// Returns the last failed run of a run's source before it; nil if it was deleted, or is older than a batch.
    private func lastFailure(before run: ChangelogRun) throws -> RunReport? {
        try store.read { try $0.runs.last(of: run.report.source, failed: true, limit: Self.pageSize) }.first { failed in
            failed.number.map { $0 < run.position.run } ?? false
        }
    }

    private func event(_ kind: HookEventKind, _ run: ChangelogRun) -> HookEvent {
        let report = run.report
        let started = Int(report.startedAt.timeIntervalSince1970 * 1000)
        var event = HookEvent(
            id: HookDecision.id(
                kind, hook: hook.name, source: report.source, occasion: "\(run.position.run) \(started)"),
            kind: kind, hook: hook.name, source: report.source, run: run.position.run, time: run.finishedAt)
        event.error = report.error
        event.failingSince = kind == .changed ? nil : report.failingSince
        return event
    }

    /// Returns the next event that depends on the time, because a source may not run for a day, or ever. Called after
    /// all runs have been handled.
    private mutating func byTheClock(_ sources: WatchedSources, now: Date) throws -> (item: Item?, due: Date?) {
        let next = try failing(sources) + stale(sources, now: now)
        guard let timed = next.first(where: { $0.due <= now }) else { return (nil, next.map(\.due).min()) }
        // A run that cannot be read yet may be a successful one.
        if try store.read({ try $0.changelog.isDelayed(after: readTo) }) { return (nil, nil) }
        // The next run brings the event for deleted runs.
        let progress = HookProgress(
            position: readTo, step: lostRun == nil ? 0 : state.step,
            memory: (timed.source, timed.noted(in: memories[timed.source])))
        guard hook.events.contains(timed.kind) else { return (Item(event: nil, progress: progress), nil) }
        return (Item(event: timed.event(for: hook), progress: progress, pending: timed), nil)
    }

    /// Returns the failures that are not in the hook's memory.
    private mutating func failing(_ sources: WatchedSources) throws -> [TimedEvent] {
        guard hook.tracksFailures else { return [] }
        let all = try failingSources ?? store.read { try $0.sources.failing() }
        failingSources = all
        return all.compactMap { failing in
            guard sources.names.contains(failing.source), hook.concerns(failing.source) else { return nil }
            var event = TimedEvent(failing: failing.source, since: failing.since, hook)
            event.error = failing.error
            return event.isKnown(to: memories[failing.source]) ? nil : event
        }
    }

    /// Returns the sources that are stale or may become stale, and whose staleness is not in the hook's memory. Reads
    /// the states of all sources only when one may have become stale.
    private mutating func stale(_ sources: WatchedSources, now: Date) throws -> [TimedEvent] {
        guard hook.tracksStaleness, let shortest = sources.freshWithin.values.min() else { return [] }
        if let fresh, fresh.sources == sources, fresh.times.contains(now) { return [] }
        let states = try store.read { try $0.sources.all() }
        let events = sources.freshWithin.compactMap { source, seconds -> TimedEvent? in
            guard hook.concerns(source), let state = states[source],
                let event = TimedEvent(stale: state, after: seconds), !event.isKnown(to: memories[source])
            else { return nil }
            return event
        }.sorted { ($0.due, $0.source) < ($1.due, $1.source) }
        fresh = (sources, now..<max(now, min(events.first?.due ?? .distantFuture, now + shortest)))
        return events
    }

    /// Returns the event for deleted runs between the hook's position and a run, or for the rest of the run at its
    /// position.
    private func forgotten(before run: ChangelogRun, others: Bool) -> Item {
        let place = others ? RunPosition(transaction: run.position.transaction, run: run.position.run - 1) : readTo
        let occasion = "\(state.position.run)" + (lostRun == nil ? "" : " \(state.step)")
        var event = HookEvent(
            id: HookDecision.id(.forgotten, hook: hook.name, source: nil, occasion: occasion),
            kind: .forgotten, hook: hook.name, source: nil, run: run.position.run, time: run.finishedAt)
        let first = lostRun?.run ?? state.position.run + 1
        event.error =
            others
            ? "the runs from \(first) to \(place.run) were deleted before their events could be delivered"
            : "run \(first) was deleted before all of its events were delivered"
        return Item(event: event, progress: HookProgress(position: place))
    }
}
