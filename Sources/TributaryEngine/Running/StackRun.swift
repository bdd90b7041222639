import FeedDeclarations
import FeedFetching
import FeedModel
import FeedStore
import Foundation
import Logging
import Synchronization

/// One attempt to refresh one source: the order of the steps, and nothing else.
///
/// Claim the source, see whether it is due, send the requests one after another, parse each body into the worker
/// context while it arrives, merge the whole stack in one transaction. Whatever fails on the way, the worker context is
/// thrown away and only the run itself is recorded.
///
/// An actor on a queue of its own: parsing and staging block that queue's thread, never the cooperative pool.
actor StackRun {
    var source: SourceDeclaration
    let environment: RunEnvironment
    let mode: RefreshMode
    let executor: RunExecutor
    let interruption = Interruption()
    /// What lets the run go on; its slot is given to others while it waits for a host.
    var permit: RunPermit
    /// What lets the run go on without a slot.
    var absence: HostLimiter.Place?

    var startedAt = Date()
    var start = ContinuousClock.now
    var state: SourceState
    var known: [String: RequestState] = [:]
    var context: WorkerContext?
    var results: [RequestResult] = []
    /// What responses have been asked to tell later requests.
    var captured: [String: String] = [:]
    /// What the responses say of when to come back.
    var advice = PollAdvice()
    /// A permanent redirect is followed this often before its target is asked at once.
    static let movesBelieved = 3
    /// Whether what the documents hold and nothing takes is noted, and what was.
    var notesUnused = false
    var unmatched: (elements: [StackPlan.Unmatched], columns: [StackPlan.Unmatched]) = ([], [])
    /// Records that the declarations said to drop.
    var skipped = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        _ source: SourceDeclaration, in environment: RunEnvironment, mode: RefreshMode, permit: RunPermit = RunPermit()
    ) {
        self.permit = permit
        self.source = source
        self.environment = environment
        self.mode = mode
        executor = RunExecutor(label: "tributary.run.\(source.name)")
        state = SourceState(source: source.name)
    }

    /// Never throws: what went wrong is in the report. A cancelled task makes a cancelled run.
    func run() async -> RunReport {
        // The run may be remembered for longer than it lasts.
        defer { permit = RunPermit() }
        return await withTaskCancellationHandler {
            do {
                let lock = try await claim()
                defer { lock.unlock() }
                return await runClaimed()
            } catch {
                return report(ending(with: error))
            }
        } onCancel: {
            interruption.request()
        }
    }

    /// Waits until no other run of the source, in this process or another, is under way. Others go on meanwhile.
    private func claim() async throws -> RunLock {
        let hadSlot = permit.slot != nil
        while true {
            if let lock = try RunLock(store: environment.store, source: source.name) {
                if hadSlot, permit.slot == nil {
                    permit.slot = environment.slots.placeRegardless(at: RunPermit.slotKey)
                }
                return lock
            }
            permit = RunPermit()
            // The kernel tells nobody when a lock is given up, so it is asked again.
            try await environment.clock.sleep(for: .milliseconds(50))
        }
    }

    /// Does everything but the commit.
    ///
    /// - Parameters:
    ///   - bodies: files that are read instead of what requests would be answered, by the requests' keys.
    ///   - onChange: told of each change.
    /// - Throws: what a run would be discarded for.
    func plan(bodies: [String: String], onChange: @escaping @Sendable (PlannedChange) throws -> Void) async throws
        -> StackPlan
    {
        let lock = try await claim()
        defer { lock.unlock() }
        notesUnused = true
        do {
            return try await planClaimed(bodies: bodies, onChange: onChange)
        } catch let error as StoreError {
            throw error
        } catch {
            throw ShownError(description: shown(error))
        }
    }

    /// An error that may be shown.
    struct ShownError: Error, CustomStringConvertible {
        var description: String
    }

    private func planClaimed(
        bodies: [String: String], onChange: @escaping @Sendable (PlannedChange) throws -> Void
    ) async throws -> StackPlan {
        results = source.requests.map { RequestResult(key: $0.key) }
        known = try environment.store.states(of: source.name).requests
        defer { context?.remove() }
        for (key, path) in bodies {
            guard let index = source.requests.firstIndex(where: { $0.key == key }) else { continue }
            source.requests[index].url = InterpolatedText(path)
            source.requests[index].method = "GET"
            source.requests[index].parameters = [:]
            source.requests[index].headers = [:]
            source.requests[index].body = nil
            source.requests[index].paging = nil
            source.requests[index].forEach = nil
            known[key] = nil
        }
        try await sendRequests()
        var plan = StackPlan()
        plan.requests = results.map(\.report)
        plan.elements = unmatched.elements
        plan.columns = unmatched.columns
        guard let context else { return plan }
        let stack = try context.finish()
        plan.skipped = context.skippedRows
        plan.counts = try environment.store.plan(
            stack, mirrors: mirrors, checkMirrors: checkMirrors, source: source.name, onChange: onChange)
        return plan
    }

    private func runClaimed() async -> RunReport {
        startedAt = environment.clock.now()
        start = .now
        results = source.requests.map { RequestResult(key: $0.key) }
        let ending: Ending
        do {
            (state, known) = try environment.store.states(of: source.name)
            let deaths = state.declared == source.identity ? environment.attempts.deaths(before: state) : 0
            if deaths >= SourceState.deathsUntilHeld, !environment.runsHeld { return try await held(after: deaths) }
            if let due = wait() {
                return RunReport(source: source.name, outcome: .fresh, startedAt: startedAt, nextDue: due)
            }
            let isNew = state.declared != nil && state.declared != source.identity
            environment.attempts.begin(source.name, after: deaths)
            try await environment.store.noteAttempt(
                source.name, number: deaths + 1, wait: mode.ignoresDueTime && !isNew ? nil : DueTime.firstRetry.seconds,
                declared: source.identity, now: startedAt)
            try await sendRequests()
            return try await finish()
        } catch {
            ending = self.ending(with: error)
        }
        context?.remove()
        context = nil
        return await record(ending)
    }

    /// Whatever kills the process must not do so again and again: the other sources need it.
    private func held(after deaths: Int) async throws -> RunReport {
        let error =
            "the process died \(deaths) times in a row during a run of this source, which is held so that the others go on"
        let note =
            "held: nothing is sent until it is declared differently, or let go by `tributary release \(source.name)`; "
            + "`tributary sync \(source.name) --force` tries it once in a process of its own"
        if state.error != error || state.note != note {
            try await environment.store.noteHold(source.name, error: error, note: note)
        }
        return RunReport(
            source: source.name, outcome: .discarded, startedAt: startedAt, error: error + "; " + note,
            nextDue: .distantFuture)
    }

    /// Until when nothing is to be sent; nil where the run goes ahead. Whoever forces a run does not force a server that
    /// asked to be left alone.
    private func wait() -> Date? {
        let busy =
            environment.busyHosts.isEmpty
            ? nil
            : source.requests.compactMap { (request) -> Date? in
                var request = request
                if request.url.isDynamic { request.url = InterpolatedText(request.url.probe) }
                // Where a response says who is asked, it is not known yet.
                guard let origin = try? request.origin() else { return nil }
                return environment.busyHosts.end(of: origin, now: startedAt)
            }.max()
        if let busy { return busy }
        guard !mode.ignoresDueTime else { return nil }
        let due = DueTime.start(source, state: state, now: startedAt)
        return startedAt < due ? due : nil
    }
}
