import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import Logging

/// Parses the bodies of a source's stack into its worker context, and merges them into the main store in one transaction.
///
/// An actor on its own queue, because parsing and staging block the queue's thread. They block neither the cooperative
/// pool nor other runs. It holds a slot while it works (``LoadExecutor``).
actor Refresh {
    var run: RunState
    let permits: RunPermits
    let executor: LoadExecutor
    let stop = Stop()
    /// The first response; nil once it has been read, and before the first request.
    var found: Poll.Found?

    var context: WorkerContext?
    /// The addresses of the responses of captured values, to which relative addresses in them refer.
    var captureBases: [String: String] = [:]
    /// The provenances of captured values. They decide whether an address may be private.
    var provenances: [String: AddressProvenance] = [:]
    /// The least trusted origin of any row so far; nil until a server has answered.
    var rowProvenance: AddressProvenance?
    /// True to note unmapped parts of documents in `unmatched`.
    var notesUnused = false
    var unmatched = UnmatchedPaths()
    /// The expressions of the run's mappings, compiled once for all documents.
    let expressions = ExpressionPool()
    /// The number of consecutive processes that died during the source's runs; nil once the attempt is noted.
    private var unnoted: Int?
    /// The same number while the attempt is noted.
    private var noted: Int?
    /// The waits that servers have requested of later requests.
    private var waits = RequestedWaits()
    /// The remaining repetitions of the current exchange.
    var repetitions = Repetitions(of: nil)
    /// The body of the response that a request with `until` has waited for, until it is parsed.
    var awaited: BodySpool?
    /// The received archives that several requests read (``SharedArchives``), by their keys.
    var archives: [String: ReceivedArchive] = [:]
    /// The keepers of the parsed bodies, by the requests' positions.
    var keepers: [Int: BodyKeeper] = [:]
    /// The answer of ``hasExpiredRows()``; nil before it.
    private var expiredRows: Bool?
    /// True if a limit may block the run.
    let mayBeBlocked: Bool
    /// The changes that a blocked commit would have made.
    var review: ChangeReview?
    /// The names of bodies that the commit makes valid, by the requests' positions.
    var newBodies: [Int: String] = [:]

    nonisolated let environment: RunEnvironment
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - run: the run, with the results of requests answered with 304.
    ///   - found: the first response that is not a 304.
    init(_ run: RunState, permits: RunPermits, found: Poll.Found? = nil) {
        self.run = run
        self.permits = permits
        self.found = found
        environment = run.environment
        mayBeBlocked = !run.isReplay && run.source.requests.contains(where: \.isLimited)
        executor = LoadExecutor(
            label: "tributary.run.\(run.source.name)", slots: environment.slots, environment.threads,
            environment.clock)
    }

    /// Refreshes the source, and records the run.
    ///
    /// - Parameter deaths: the number of consecutive processes that died during the source's runs.
    func run(after deaths: Int) async -> RunReport {
        unnoted = run.isReplay ? nil : deaths
        return await withTaskCancellationHandler {
            var ending: RunState.Ending
            do {
                try await sendRequests()
                return try await finish()
            } catch {
                ending = block(run.ending(with: error))
                // A commit whose answer was lost may have been made. If the store does not answer now either, the state
                // from the beginning counts.
                if error is StoreError, let states = try? environment.store.states(of: run.source.name) {
                    (run.stored, run.known) = states
                }
            }
            if let found {
                found.abandon()
                run.results[found.index].report.seconds += found.clock.spent.seconds
                run.results[found.index].report.outcome = .failed
            }
            context?.remove()
            context = nil
            run.removeAdditions()
            return await record(ending)
        } onCancel: {
            stop.request()
        }
    }

    /// Notes in the store that the source's documents are about to be parsed, so that a document that kills the process
    /// does not kill it again and again. A server that does not answer is no reason to suspect the source.
    func noteAttempt() async throws {
        guard let deaths = unnoted else { return }
        (unnoted, noted) = (nil, deaths)
        let source = run.source
        let isNew = run.stored.declared != nil && run.stored.declared != source.identity
        environment.attempts.begin(source.name, after: deaths)
        let wait = run.mode.ignoresDueTime && !isNew ? nil : DueTime.firstRetry(of: source)
        let now = environment.clock.now()
        try await environment.store.writeInGroup {
            try $0.sources.recordAttempt(
                of: source.name, number: deaths + 1, wait: wait, declared: source.identity, now: now)
        }
    }

    /// Takes back the note of the attempt while the run waits between two responses. If the process dies meanwhile, no
    /// document is the cause.
    ///
    /// - Parameter note: what the state of the source says from now on, so that other processes can show it; nil for no
    ///   change. A plan writes nothing.
    func withdrawAttempt(noting note: String? = nil) async throws {
        guard let deaths = noted ?? unnoted, noted != nil || note != nil else { return }
        let isNoted = noted != nil
        (unnoted, noted) = (deaths, nil)
        let (source, now) = (run.source, environment.clock.now())
        try await environment.store.writeInGroup {
            if isNoted {
                try $0.sources.recordAttempt(
                    of: source.name, number: deaths, wait: nil, declared: source.identity, now: now)
            }
            if let note { try $0.sources.recordNote(of: source.name, note) }
        }
    }

    /// Replaces the note of ``withdrawAttempt(noting:)`` by the one before it, once the wait has ended.
    func endWait() async throws {
        guard (noted ?? unnoted) != nil else { return }
        let (source, former) = (run.source, run.stored.note.flatMap { DueTime.isWaitNote($0) ? nil : $0 })
        try await environment.store.writeInGroup { try $0.sources.recordNote(of: source.name, former) }
    }

    /// Sends a request of `for_each`, or for a further page or the rest of a body, and returns the head of the response.
    ///
    /// - Throws: ``FetchError``; `CancellationError`.
    func fetchObeying(_ request: RequestDeclaration, _ context: ExchangeContext) async throws -> Exchange {
        try await obeying { try await environment.fetch(request, context) }
    }

    /// Sends a request after others of the run, whose work must not be lost. If the server requests a short wait (429 or
    /// 503 with Retry-After), sends it again. The host's gate makes it wait.
    func obeying(_ send: () async throws -> Exchange) async throws -> Exchange {
        while true {
            let exchange = try await send()
            guard RetryAfter.statuses.contains(exchange.response.status),
                RetryAfter.end(of: exchange.response, at: environment.clock.now()) != nil,
                // It may be over, if the actor has worked meanwhile.
                waits.note(environment.hosts.pause(of: exchange.origin) ?? .zero, now: environment.clock.uptime)
            else { return exchange }
        }
    }

    private func finish() async throws -> RunReport {
        try Task.checkCancellation()
        let isParsed = run.isParsed
        let retention = run.retention
        // Rows expire even if the feeds are unchanged.
        guard try isParsed || hasExpiredRows() else {
            context?.remove()
            context = nil
            try keepBodies()
            try await fileActions.finish(run)
            return await record(RunState.Ending(outcome: .unchanged))
        }
        try await noteAttempt()
        let unmet = try unmetExpectations()
        var stack = try context.flatMap { isParsed ? try $0.finish() : nil } ?? StagedStack.empty
        stack.skipped += run.skippedRecords
        try run.noteDrift()
        stack.unmet = run.replay?.shown == nil ? unmet.blocking + run.blockingDrift : []
        run.reportRemarks()
        let skipped = context?.allSkipped ?? SkippedRows()
        run.notes = run.remarkNotes + [skipped.note].compactMap(\.self) + run.repairNotes + run.leftOutNotes
        run.notes += stack.skipped.compactMap(\.note) + unmet.notes + run.drift.map(\.text)
        (run.skipped, run.rejected) = (skipped.count, skipped.invalid)
        run.rejection = skipped.note
        try keepBodies()
        let ending = RunState.Ending(outcome: .committed)
        var commit = run.commit(ending)
        commit.mirrors = run.mirrors
        commit.checkMirrors = run.checkMirrors
        commit.limits = run.replay?.shown == nil ? run.limits : [:]
        commit.accepted = run.kept?.blocked.map { $0.exceeded ?? [] }
        commit.shown = run.replay?.shown?.changes ?? run.kept?.blocked?.shown
        commit.showsVersions = run.source.historyKept != nil
        commit.keys = DeclaredKeys(environment.configuration, parsers: environment.registry)
        commit.lookups = environment.configuration.lookups
        commit.keepsHistory = run.source.keepsHistory
        commit.retention = retention
        // The next run must not meet files and kept bodies that this one is about to move.
        commit.endsClaim = !fileActions.concern(run) && !run.mayHaveBodies
        let began = environment.clock.uptime
        var report: RunReport
        do {
            report = try await keepingSlot {
                try await environment.store.commit(
                    commit, merging: stack, stop: stop, seconds: run.elapsed)
            }
        } catch let error as StoreError where error.code == .blocked {
            review = run.isReplay ? nil : reviewed(stack, retention)
            throw error
        }
        environment.metrics.committed(in: (environment.clock.uptime - began).seconds)
        environment.attempts.end(run.source.name)
        tidyBodies(ending)
        context?.remove()
        context = nil
        // Its scratch database has the source's name.
        if commit.endsClaim { permits.endClaim() }
        do {
            try await fileActions.finish(run)
        } catch is CancellationError {
            // The next run does it.
        } catch {
            let text = "the rows are committed, and their files stay until the next run: \(run.shown(error))"
            if environment.logsRemainingFiles {
                environment.logger.warning(
                    "Files stay after their commit", metadata: ["source": "\(run.source.name)", "error": "\(text)"])
            }
            report.note = [report.note, text].compactMap(\.self).joined(separator: "; ")
        }
        return report
    }

    private var fileActions: FileActions { FileActions(environment: environment, permits: permits) }

    /// Keeps the slot during a commit into a file, whose commits wait for each other: they would gather their rows. A
    /// server merges at the same time what goes into different tables, and a table that another session keeps locked must
    /// not keep slots from other sources.
    private func keepingSlot<Value>(_ commit: () async throws -> Value) async throws -> Value {
        environment.store is any SharedStore ? try await commit() : try await executor.keepingSlot(commit)
    }

    /// Returns the changes that a blocked commit would have made; nil after an error.
    private func reviewed(_ stack: StagedStack, _ retention: Retention) -> ChangeReview? {
        var stack = stack
        stack.unmet = []
        var reviewer = ChangeReviewer()
        do {
            let counts = try environment.store.plan(
                stack, mirrors: run.mirrors, checkMirrors: run.checkMirrors, limits: [:], retention: retention,
                source: run.source.name, onChange: { reviewer.add($0) })
            return reviewer.review(of: run.startedAt, unchanged: counts.unchanged)
        } catch {
            environment.logger.warning(
                "The changes of a blocked run cannot be shown",
                metadata: ["source": "\(run.source.name)", "error": "\(run.shown(error))"])
            return nil
        }
    }

    /// Checks the expectations of parsed requests. The rows of unchanged ones were checked before their commit.
    ///
    /// - Throws: ``RunError`` for the first expectation that discards the run, or that cannot be evaluated.
    func unmetExpectations() throws -> ExpectationCheck.Unmet {
        var unmet = ExpectationCheck.Unmet()
        for (index, request) in run.source.requests.enumerated()
        where run.results[index].report.outcome == .parsed && ExpectationCheck.concerns(request) {
            do {
                try ExpectationCheck(context: workerContext(), clock: environment.clock).check(request, index, &unmet)
            } catch let error as CancellationError {
                throw error
            } catch {
                run.results[index].report.outcome = .failed
                throw RunError(error, in: request)
            }
        }
        return unmet
    }

    private func record(_ ending: RunState.Ending) async -> RunReport {
        await run.record(ending) { tidyBodies(ending) }
    }

    /// Returns true if rows have expired. Asks the store once a run, when all requests have been answered.
    func hasExpiredRows() throws -> Bool {
        if let expiredRows { return expiredRows }
        let expiries = run.retention.expiries
        let found = try !expiries.isEmpty && environment.store.hasExpiredRows(expiries)
        expiredRows = found
        return found
    }

    // MARK: - Planning

    /// Runs everything except the commit.
    ///
    /// - Throws: the error that would discard the run, without secrets.
    func plan(
        bodies: [String: String], onChange: @escaping @Sendable (PlannedChange) throws -> Void
    ) async throws -> StackPlan {
        notesUnused = true
        defer { context?.remove() }
        do {
            substitute(bodies)
            run.kept = try run.replay.map(run.lastBodies)
            try await withTaskCancellationHandler {
                try await sendRequests()
            } onCancel: {
                stop.request()
            }
            var plan = try planned(onChange)
            // A blocked run touches no file.
            for (index, text) in plan.blocked == nil ? run.fileNotes(isPlanned: true) : [] {
                plan.requests[index].add(text)
                plan.files.append("request '\(plan.requests[index].key)': \(text)")
            }
            plan.basis = run.kept.map(run.basis)
            return plan
        } catch let error as StoreError {
            throw error
        } catch {
            throw StackError(run.shown(error))
        }
    }

    /// Reads files instead of the requests' responses.
    private func substitute(_ bodies: [String: String]) {
        for (key, path) in bodies {
            guard let index = run.source.requests.firstIndex(where: { $0.key == key }) else { continue }
            run.source.requests[index].url = InterpolatedText(path)
            run.source.requests[index].method = "GET"
            run.source.requests[index].parameters = [:]
            run.source.requests[index].headers = [:]
            run.source.requests[index].body = nil
            run.source.requests[index].paging = nil
            run.source.requests[index].until = nil
            run.source.requests[index].forEach = nil
            run.source.requests[index].afterCommit = nil
            run.known[key] = nil
        }
        run.archives = SharedArchives(run.source.requests)
    }

    private func planned(_ onChange: @escaping @Sendable (PlannedChange) throws -> Void) throws -> StackPlan {
        var plan = StackPlan()
        plan.requests = run.results.map(\.report)
        plan.elements = unmatched.elements.map { element in
            UnmatchedPath(
                request: element.request, path: environment.redacted(element.path), count: element.count)
        }
        let partial = Set(run.results.filter(\.documents.areSome).map(\.report.key))
        plan.columns = unmatched.columns.filter { !partial.contains($0.request) }
        let retention = run.retention
        guard try context != nil || hasExpiredRows() else { return plan }
        let unmet = try unmetExpectations()
        var stack = try context.flatMap { run.isParsed ? try $0.finish() : nil } ?? StagedStack.empty
        stack.skipped += run.skippedRecords
        // The plan itself shows what else has changed in form.
        if run.source.requests.contains(where: { $0.drift == .block }) { try run.noteDrift() }
        for index in run.source.requests.indices { run.noteRepetition(index) }
        stack.unmet = unmet.blocking + run.blockingDrift
        plan.notes =
            run.listingNotes + run.remarkNotes + run.repairNotes + run.leftOutNotes
            + stack.skipped.compactMap(\.note) + unmet.notes
        let changed = Mutex(Set<String>())
        do {
            plan.counts = try environment.store.plan(
                stack, mirrors: run.mirrors, checkMirrors: run.checkMirrors, limits: run.limits, retention: retention,
                source: run.source.name
            ) { change in
                changed.withLock { _ = $0.insert(change.table) }
                try onChange(change)
            }
        } catch let error as StoreError where error.code == .blocked {
            // All changes have been reported.
            guard let counts = error.counts else { throw error }
            plan.counts = counts
            plan.blocked = run.shown(error)
        }
        if run.source.historyKept != nil {
            let views = changed.withLock { $0 }.sorted().map(VersionsView.name)
            plan.notes += try views.filter { try environment.store.columns(of: $0).isEmpty }.map {
                "the commit creates the view '\($0)', which shows the versions of rows"
            }
        }
        let skipped = context?.allSkipped ?? SkippedRows()
        plan.skipped = skipped.count + plan.counts.skipped
        plan.skipReasons = reasons(for: skipped, expired: plan.counts.skipped).map(environment.shown)
        return plan
    }

    /// Returns the reasons for which records are skipped, with the number of records of each.
    private func reasons(for skipped: SkippedRows, expired: Int) -> [String] {
        let expiries = run.source.requests.flatMap { request in
            Set(run.results.flatMap { $0.state?.tables ?? [] }).compactMap(request.expiry(of:))
        }
        let rules = Set(expiries.map { "'\($0.column)' is over \(RelativeTime.duration($0.after.seconds)) ago" })
            .sorted()
        let reasons: [(count: Int, text: String)] = [
            (expired, rules.isEmpty ? "expired" : "expired: \(rules.joined(separator: ", or "))"),
            (skipped.filtered, "excluded by 'where'"),
            (skipped.unaccepted, "not accepted by the parser"),
            (skipped.invalid, "invalid: " + skipped.errors.joined(separator: "; ")),
        ]
        return reasons.filter { $0.count > 0 }.map { "\($0.count) \($0.text)" }
    }
}
