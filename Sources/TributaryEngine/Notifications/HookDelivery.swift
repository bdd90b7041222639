import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStores
import Foundation
import Logging

/// Delivers the events of one hook in order, independently of other hooks. A failed delivery is repeated with growing
/// intervals, and later events wait.
///
/// The hook's position is in the store, and advances after a delivery. So a process that dies skips no event, and may
/// deliver the last one twice.
///
/// An actor on its own queue, because a slow store blocks the queue's thread.
actor HookDelivery {
    /// The seconds until the next check for runs of other processes.
    private static let secondsBetweenLooks = 2.0
    /// The least seconds between two checks.
    private static let shortestPause = 0.05
    private static let betweenRenewals = Duration.seconds(5)
    /// The number of runs without an event, or of seconds, after which the position is stored.
    private static let (runsPassed, secondsPassed) = (Int64(500), 60.0)

    let hook: HookDeclaration
    private let environment: RunEnvironment
    private let sender: HookSender
    private let executor: RunExecutor
    private let timer: DueTimer
    private let passedTo = Mutex(RunPosition.start)
    private let sources: Mutex<WatchedSources>
    private let configuration: Mutex<TributaryConfiguration>
    private var queue: HookQueue?
    /// The time at which the position was stored last.
    private var noted: Date
    private var isCutOff = false
    /// The clock's uptime before the lease was requested last.
    private var held = Duration.zero

    /// The error for a hook that another process serves by now.
    private struct LostLease: Error {}

    private var store: any MainStore { environment.store }
    private var clock: any RunClock { environment.clock }

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ hook: HookDeclaration, _ environment: RunEnvironment, _ sender: HookSender) {
        self.hook = hook
        self.environment = environment
        self.sender = sender
        executor = environment.serialExecutor("hook.\(hook.name)")
        timer = DueTimer(clock: environment.clock)
        noted = environment.clock.now()
        sources = Mutex(environment.configuration.watched)
        configuration = Mutex(environment.configuration)
    }

    nonisolated var name: String { hook.name }

    /// The position up to which no event is left. It is stored from time to time.
    nonisolated var passed: RunPosition { passedTo.withLock(\.self) }

    /// Applies a new configuration.
    nonisolated func reload(_ configuration: TributaryConfiguration) {
        sources.withLock { $0 = configuration.watched }
        self.configuration.withLock { $0 = configuration }
        alarm()
    }

    /// Checks for events soon.
    nonisolated func alarm() { timer.set(environment.clock.now() + Self.shortestPause) }

    /// Runs until the task is cancelled.
    func run() async {
        await timer.run { await look() }
        // If the store is unreachable, the lease ends by itself.
        try? store.releaseHook(hook.name)
    }

    /// Delivers all events.
    ///
    /// - Returns: the time of the next check.
    private func look() async -> Date {
        do {
            let next = try await deliverAll()
            if isCutOff { environment.logger.notice("The hook '\(hook.name)' continues") }
            isCutOff = false
            return next
        } catch is CancellationError {
            return .distantFuture
        } catch {
            if !isCutOff {
                environment.logger.error(
                    "The hook '\(hook.name)' waits for the store",
                    metadata: ["error": "\(shown("\(error)"))"])
            }
            isCutOff = true
            queue = nil
            return clock.now() + Self.secondsBetweenLooks
        }
    }

    private func deliverAll() async throws -> Date {
        let sources = self.sources.withLock(\.self)
        queue?.look()
        while true {
            try Task.checkCancellation()
            let now = clock.now()
            let latest = now + Self.secondsBetweenLooks
            let state = try state()
            if state.gone == hook.fingerprint { return now + HookDecision.longestWait }
            // A longer wait than the longest allowed one comes from a wrong clock.
            if let next = state.nextAttempt, next > now, next < now + RetryAfter.longest.seconds + 1 { return next }
            if queue?.stands(for: state, of: hook) != true {
                queue = try HookQueue(hook, store, state: state)
            }
            guard let (item, due) = try queue?.next(of: sources, now: now) else { return latest }
            guard let item else {
                try notePassed(state, now)
                return min(latest, due ?? latest)
            }
            held = clock.uptime
            guard try store.holdHook(hook.name) else { return latest }
            // Another process may have delivered the event meanwhile.
            guard let fresh = try store.read({ try $0.hooks.state(of: hook.name) }), fresh == state else { continue }
            if let pending = try item.pending?.text {
                try store.write { try $0.hooks.begin(hook.name, pending, after: item.progress) }
                queue?.began(pending, after: item.progress)
            }
            do {
                guard try await deliver(item, state) else { continue }
            } catch is LostLease {
                return latest
            }
            if item.progress.position > state.position { noted = now }
        }
    }

    /// Returns the hook's state. Declares the hook if the store was unreachable before.
    private func state() throws -> HookState {
        if let state = try store.read({ try $0.hooks.state(of: hook.name) }) { return state }
        _ = try store.declareHooks(Set(configuration.withLock(\.hooks).map(\.name)))
        guard let state = try store.read({ try $0.hooks.state(of: hook.name) }) else {
            throw StoreError(
                .conflict, "another process has deleted the hook '\(hook.name)', which it does not declare")
        }
        return state
    }

    /// - Returns: false after a failed attempt.
    private func deliver(_ item: HookQueue.Item, _ state: HookState) async throws -> Bool {
        var progress = item.progress
        if let event = item.event {
            switch try await send(event, with: item.changesOf, state) {
            case nil: break
            case .delivered:
                progress.deliveredAt = clock.now()
                if state.attempts > 0 {
                    let attempts = state.attempts == 1 ? "1 attempt" : "\(state.attempts) attempts"
                    environment.logger.notice("The hook '\(hook.name)' continues after \(attempts)")
                }
                if event.kind == .forgotten {
                    environment.logger.warning("The hook '\(hook.name)': \(event.error ?? "")")
                }
            case .failed(let error, let retryAt):
                try fail(state, error, retryAt)
                return false
            case .gone(let error):
                let shown = shown(error)
                environment.logger.error("The hook '\(hook.name)' no longer receives events: \(shown)")
                try store.write {
                    try $0.hooks.recordFailure(
                        of: hook.name,
                        HookFailure(
                            error: shown, attempts: state.attempts + 1, nextAttempt: nil, gone: hook.fingerprint))
                }
                return false
            }
        }
        try store.write { try $0.hooks.advance(hook.name, progress) }
        queue?.advanced(progress)
        return true
    }

    private func fail(_ state: HookState, _ error: String, _ retryAt: Date?) throws {
        let now = clock.now()
        let attempts = state.attempts + 1
        let next = max(
            now + HookDecision.wait(attempts: attempts, jitter: environment.random.fraction()), retryAt ?? .distantPast)
        let shown = shown(error)
        environment.logger.warning(
            "The hook '\(hook.name)' failed: the event was not delivered: \(shown)",
            metadata: ["attempts": "\(attempts)", "again": "\(next.formatted(.iso8601))"])
        try store.write {
            try $0.hooks.recordFailure(
                of: hook.name, HookFailure(error: shown, attempts: attempts, nextAttempt: next))
        }
    }

    /// Sends an event, with the changed rows of a run.
    ///
    /// - Returns: nil if no row passes the hook's condition.
    /// - Throws: ``LostLease``; `StoreError`; `CancellationError`.
    private func send(_ event: HookEvent, with run: ChangelogRun?, _ state: HookState) async throws -> HookOutcome? {
        var event = event
        if let run {
            var changes = EventChanges(of: run, hook, present)
            do {
                while try changes.readOn() {
                    try Task.checkCancellation()
                    try renewLease(state)
                }
            } catch let failure as ChangeCondition.Failure {
                return .failed("the condition 'where' of the hook '\(hook.name)': \(failure)")
            }
            try renewLease(state)
            guard changes.fill(&event) else { return nil }
        }
        let renewing = Task {
            while !Task.isCancelled {
                try await clock.sleep(for: Self.betweenRenewals)
                // A lease outlasts two failures of the store.
                _ = try? store.holdHook(hook.name)
            }
        }
        defer { renewing.cancel() }
        return try await sender.send(event, to: hook)
    }

    /// Renews the lease of the hook if some seconds have passed.
    ///
    /// - Parameter state: the hook's state when the lease began.
    /// - Throws: ``LostLease`` if another process has the lease, or has had it; `StoreError`.
    private func renewLease(_ state: HookState) throws {
        let now = clock.uptime
        guard now - held >= Self.betweenRenewals else { return }
        guard try store.holdHook(hook.name), try store.read({ try $0.hooks.state(of: hook.name) }) == state else {
            throw LostLease()
        }
        held = now
    }

    /// Prepares a text for display and storage; see ``RunEnvironment/shown(_:)``.
    private func shown(_ text: String) -> String { present.shown(text) }

    /// The environment with the current configuration.
    private var present: RunEnvironment { environment.with(configuration.withLock(\.self)) }

    /// Stores the position after runs without an event from time to time, so that it does not become outdated.
    private func notePassed(_ state: HookState, _ now: Date) throws {
        guard let read = queue?.readTo, read > state.position else { return }
        passedTo.withLock { $0 = read }
        guard read.run - state.position.run >= Self.runsPassed || now.timeIntervalSince(noted) >= Self.secondsPassed,
            try store.holdHook(hook.name)
        else { return }
        let progress = HookProgress(position: read)
        try store.write { try $0.hooks.advance(hook.name, progress) }
        queue?.advanced(progress)
        noted = now
    }
}

/// The changed rows of an event, read from the changelog in batches of some hundred. Blocks its thread.
///
/// For a hook with a condition, it reads all changes of the run; otherwise, only as many as the event holds.
struct EventChanges {
    private static let rowsAtOnce = 500
    /// The approximate size of keys and values after which an event takes no further row.
    private static let mostBytes = 1 << 20

    private let run: ChangelogRun
    private let hook: HookDeclaration
    private let environment: RunEnvironment
    private var conditions: [String: ChangeCondition] = [:]
    private var cursor: Int64 = 0
    private var taken: [ChangelogEntry] = []
    private var bytes = 0
    private var isFull = false
    /// The number of changes that pass the condition.
    private var heard = 0

    init(of run: ChangelogRun, _ hook: HookDeclaration, _ environment: RunEnvironment) {
        self.run = run
        self.hook = hook
        self.environment = environment
        isFull = hook.rows == 0
    }

    /// Reads the next rows.
    ///
    /// - Returns: false after the last needed row.
    /// - Throws: `ChangeCondition.Failure`, `StoreError`.
    mutating func readOn() throws -> Bool {
        if hook.condition == nil, isFull { return false }
        let most = hook.condition == nil ? hook.rows - taken.count : Self.rowsAtOnce
        let page = try environment.store.read {
            try $0.changelog.changes(of: run, after: cursor, limit: min(most, Self.rowsAtOnce))
        }
        guard let last = page.last else { return false }
        cursor = last.id
        for change in try withImages(page) where try hears(of: change) {
            heard += 1
            take(change)
        }
        return true
    }

    /// Adds the rows to an event.
    ///
    /// - Returns: false if no row passes the condition.
    func fill(_ event: inout HookEvent) -> Bool {
        let counts = run.report.counts
        let all = hook.condition == nil ? counts.changed : heard
        event.format = hook.format
        event.changes = taken
        event.changesOmitted = max(0, all - taken.count)
        return hook.condition == nil || heard > 0
    }

    private mutating func take(_ change: ChangelogEntry) {
        var change = change
        if !hook.format.hasImages { change.images = nil }
        isFull = isFull || taken.count == hook.rows || !taken.isEmpty && bytes + change.size > Self.mostBytes
        guard !isFull else { return }
        taken.append(change)
        bytes += change.size
        isFull = taken.count == hook.rows
    }

    /// Returns the changes that may pass the condition, with their rows if needed.
    private func withImages(_ changes: [ChangelogEntry]) throws -> [ChangelogEntry] {
        let wanted = hook.condition.map { condition in changes.filter { condition.sql(for: $0.table) != nil } }
        guard hook.format.hasImages || hook.condition != nil else { return changes }
        return try environment.store.withImages(
            wanted ?? changes, of: run,
            DeclaredKeys(environment.configuration, parsers: environment.registry))
    }

    private mutating func hears(of change: ChangelogEntry) throws -> Bool {
        guard let sql = hook.condition?.sql(for: change.table) else { return true }
        let condition = try conditions[sql] ?? ChangeCondition(sql)
        conditions[sql] = condition
        return try condition.holds(for: change)
    }
}
