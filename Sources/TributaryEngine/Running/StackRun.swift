import FeedDeclarations
import FeedFetching
import FeedModel
import FeedStaging
import FeedStores
import Foundation
import Logging
import Synchronization

/// One attempt to refresh one source: the order of the steps, and nothing else.
///
/// Claims the source, checks that it is due, sends the requests one after another, parses each body into the worker
/// context as it arrives, and merges the whole stack in one transaction. If anything fails, the worker context is
/// thrown away and only the run itself is recorded.
///
/// An actor on a queue of its own: parsing and staging block that queue's thread, never the cooperative pool.
actor StackRun {
    var source: SourceDeclaration
    let environment: RunEnvironment
    let mode: RefreshMode
    let executor: RunExecutor
    let interruption = Interruption()
    /// The run's permit. Its slot is given to others while the run waits for a host.
    var permit: RunPermit
    /// The permit to go on without a slot.
    var absence: HostLimiter.Place?
    /// The bytes of bodies that the run has received.
    var received = 0
    /// True once a server has sent next to nothing for seconds.
    var wasSlow = false

    /// The right to run the source, once the run has it.
    var claim: (any SourceClaim)?
    var startedAt = Date()
    var start = ContinuousClock.now
    var state: SourceState
    var known: [String: RequestState] = [:]
    /// The feed that was undone, as long as this run has not seen that it differs.
    var undone: UndoneFeed?
    var context: WorkerContext?
    var results: [RequestResult] = []
    /// The values captured from responses for later requests, by name.
    var captured: [String: String] = [:]
    /// What addresses are led by that captured values name, by those values' names.
    var leads: [String: AddressLead] = [:]
    /// What addresses are led by that rows name; nil until a server has answered.
    var rowLead: AddressLead?
    /// The responses' advice on the time of the next run.
    var advice = PollAdvice()
    /// The number of times that a permanent redirect is followed before its target is asked at once.
    static let movesBelieved = 3
    /// True if the parts of documents that nothing takes are noted, in `unmatched`.
    var notesUnused = false
    var unmatched = UnmatchedPaths()
    /// True where the last kept bodies are read instead of responses.
    let isReplay: Bool
    /// True where a replay reads all kept bodies of requests that delete no rows.
    let readsAllBodies: Bool
    /// The bodies that are read instead of responses, if any are.
    var kept: KeptStack?
    /// The reason why documents that were accepted cannot be committed any more.
    var unusable: String?
    /// Keep what is being parsed, by the requests' positions.
    var keepers: [Int: BodyKeeper] = [:]
    /// The names of bodies that count once the run is committed, by the requests' positions.
    var newBodies: [Int: String] = [:]
    /// What the commit has not done, and why.
    var notes: [String] = []
    /// The number of records that the declarations said to drop.
    var skipped = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        _ source: SourceDeclaration, in environment: RunEnvironment, mode: RefreshMode, permit: RunPermit = RunPermit(),
        isReplay: Bool = false, readsAllBodies: Bool = false
    ) {
        self.permit = permit
        self.source = source
        self.environment = environment
        self.mode = mode
        self.isReplay = isReplay
        self.readsAllBodies = readsAllBodies
        executor = RunExecutor(label: "tributary.run.\(source.name)")
        state = SourceState(source: source.name)
    }

    /// Runs the source. Never throws: an error is in the report. A cancelled task makes a cancelled run.
    func run() async -> RunReport {
        // The object may outlive the run.
        defer { permit = RunPermit() }
        environment.http.begin(source.requests)
        defer { environment.http.end(source.requests) }
        return await withTaskCancellationHandler {
            do {
                guard environment.mayRun(source.name) else { return notOurs() }
                let lock = try await claim()
                defer { lock.unlock() }
                // A source that was given up meanwhile is the next daemon's, which waits for this claim's end.
                guard environment.mayRun(source.name) else { return notOurs() }
                claim = lock
                return await runClaimed()
            } catch {
                return unclaimed(ending(with: error))
            }
        } onCancel: {
            interruption.request()
        }
    }

    /// Waits until the source has no other run, in this process or another. Other sources go on meanwhile.
    func claim() async throws -> any SourceClaim {
        let hadSlot = permit.slot != nil
        // On a server, each attempt is a question.
        let longestPause = environment.store is any SharedStore ? Duration.seconds(1) : .milliseconds(50)
        var pause = Duration.milliseconds(50)
        while true {
            if let lock = try environment.store.claim(source.name) {
                if hadSlot, permit.slot == nil {
                    permit.slot = environment.slots.placeRegardless(at: RunPermit.slotKey)
                }
                return lock
            }
            permit = RunPermit()
            // Nobody tells that a lock or a lease was given up, so it is tried again.
            try await environment.clock.sleep(for: pause)
            pause = min(pause * 2, longestPause)
        }
    }

    private func runClaimed() async -> RunReport {
        startedAt = environment.clock.now()
        start = .now
        results = source.requests.map { RequestResult(key: $0.key) }
        let ending: Ending
        do {
            (state, known) = try environment.store.states(of: source.name)
            if isReplay {
                kept = try lastBodies()
                try await sendRequests()
                return try await finish()
            }
            let deaths = state.declared == source.identity ? environment.attempts.deaths(before: state) : 0
            if deaths >= SourceState.deathsUntilHeld, !environment.runsHeld { return try await held(after: deaths) }
            kept = try acceptedBodies()
            if kept == nil, let due = wait() { return notDue(before: due) }
            // The blocked run has seen that the feed differs from the one that was undone.
            undone = kept == nil ? UndoneFeed(state.undone) : nil
            if let undone, !undone.covers(source) { return heldBack(undone) }
            let isNew = state.declared != nil && state.declared != source.identity
            environment.attempts.begin(source.name, after: deaths)
            try await environment.store.noteAttempt(
                source.name, number: deaths + 1,
                wait: mode.ignoresDueTime && !isNew ? nil : DueTime.firstRetry(of: source),
                declared: source.identity, now: startedAt)
            try await sendRequests()
            return try await finish()
        } catch {
            ending = block(self.ending(with: error))
        }
        context?.remove()
        context = nil
        // Without bodies there was no replay, which is for whoever asked for it to know.
        return isReplay && kept == nil ? report(ending) : await record(ending)
    }

    /// Reports a run that could not even claim its source, and so is not recorded. The source is asked again like one
    /// that has failed once.
    private func unclaimed(_ ending: Ending) -> RunReport {
        var report = report(ending)
        report.nextDue = environment.clock.now() + DueTime.firstRetry(of: source)
        return report
    }

    /// Reports a source that is not due; with an error where it waits because its last run has failed.
    private func notDue(before due: Date) -> RunReport {
        var report = RunReport(source: source.name, outcome: .fresh, startedAt: startedAt, nextDue: due)
        if state.failures > 0, let error = state.error {
            let wait =
                due == .distantFuture
                ? state.note ?? "nothing is sent"
                : "nothing is sent before \(DueTime.text(due)), as the last run failed"
            report.error = "\(wait): \(error)"
        }
        return report
    }

    /// Reports a source that another daemon runs.
    private func notOurs() -> RunReport {
        let now = environment.clock.now()
        return RunReport(source: source.name, outcome: .fresh, startedAt: now, nextDue: now)
    }

    /// Reports a source whose rows were brought back, and whose feed cannot be compared without taking it.
    private func heldBack(_ undone: UndoneFeed) -> RunReport {
        RunReport(
            source: source.name, outcome: .fresh, startedAt: startedAt, note: undone.strictNote(source.name),
            nextDue: .distantFuture)
    }

    /// Reports a source as held after it killed the process several times, as the other sources need the process.
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

    /// Returns the time until which nothing is to be sent; nil if the run goes ahead. A forced run still respects a
    /// server that asked for no requests.
    private func wait() -> Date? {
        let busy =
            environment.busyHosts.isEmpty
            ? nil
            : source.requests.compactMap { (request) -> Date? in
                var request = request
                if request.url.isDynamic { request.url = InterpolatedText(request.url.probe) }
                // A host that only a response names is not known yet.
                guard let origin = try? request.origin() else { return nil }
                return environment.busyHosts.end(of: origin, now: startedAt)
            }.max()
        if let busy { return busy }
        guard !mode.ignoresDueTime else { return nil }
        let due = DueTime.start(source, state: state, now: startedAt)
        return startedAt < due ? due : nil
    }
}
