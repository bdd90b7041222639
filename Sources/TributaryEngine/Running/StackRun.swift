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
    private var source: SourceDeclaration
    private let environment: RunEnvironment
    private let mode: RefreshMode
    private let executor: RunExecutor
    private let interruption = Interruption()

    private var startedAt = Date()
    private var start = ContinuousClock.now
    private var state: SourceState
    private var known: [String: RequestState] = [:]
    private var context: WorkerContext?
    private var reader: BodyReader?
    private var results: [RequestResult] = []
    /// What responses have been asked to tell later requests.
    private var captured: [String: String] = [:]
    /// What the responses say of when to come back.
    private var advice = PollAdvice()
    /// A permanent redirect is followed this often before its target is asked at once.
    private static let movesBelieved = 3
    /// Whether what the documents hold and nothing takes is noted, and what was.
    private var notesUnused = false
    private var unmatched: (elements: [StackPlan.Unmatched], columns: [StackPlan.Unmatched]) = ([], [])
    /// Records that the declarations said to drop.
    private var skipped = 0

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(_ source: SourceDeclaration, in environment: RunEnvironment, mode: RefreshMode) {
        self.source = source
        self.environment = environment
        self.mode = mode
        executor = RunExecutor(label: "tributary.run.\(source.name)")
        state = SourceState(source: source.name)
    }

    /// Never throws: what went wrong is in the report. A cancelled task makes a cancelled run.
    func run() async -> RunReport {
        await withTaskCancellationHandler {
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

    /// Waits until no other run of the source, in this process or another, is under way.
    private func claim() async throws -> RunLock {
        while true {
            if let lock = try RunLock(store: environment.store, source: source.name) { return lock }
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
        results = source.requests.map { RequestResult(key: $0.key) }
        known = try environment.store.requestStates(of: source.name)
        defer { context?.remove() }
        for (key, path) in bodies {
            guard let index = source.requests.firstIndex(where: { $0.key == key }) else { continue }
            source.requests[index].url = InterpolatedText(path)
            source.requests[index].method = "GET"
            source.requests[index].parameters = [:]
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
            stack, emptyMirrors: mirrors, checkMirrors: checkMirrors, source: source.name, onChange: onChange)
        return plan
    }

    private func runClaimed() async -> RunReport {
        startedAt = environment.clock.now()
        start = .now
        results = source.requests.map { RequestResult(key: $0.key) }
        let ending: Ending
        do {
            state = try environment.store.sourceState(source.name)
            if let due = try wait() {
                return RunReport(source: source.name, outcome: .fresh, startedAt: startedAt, nextDue: due)
            }
            if !mode.ignoresDueTime {
                try environment.store.noteAttempt(source.name, notBefore: startedAt + DueTime.firstRetry.seconds)
            }
            known = try environment.store.requestStates(of: source.name)
            try await sendRequests()
            return try finish()
        } catch {
            ending = self.ending(with: error)
        }
        context?.remove()
        context = nil
        return record(ending)
    }

    /// Until when nothing is to be sent; nil where the run goes ahead. Whoever forces a run does not force a server that
    /// asked to be left alone.
    private func wait() throws -> Date? {
        let busy = try source.requests.compactMap { (request) -> Date? in
            var probe = request
            probe.url = InterpolatedText(request.url.probe)
            return environment.busyHosts.end(of: try HTTPTarget(probe).origin, now: startedAt)
        }.max()
        if let busy { return busy }
        guard !mode.ignoresDueTime else { return nil }
        let due = DueTime.start(source, state: state, now: startedAt)
        return startedAt < due ? due : nil
    }

    // MARK: - Requests

    private func sendRequests() async throws {
        for index in source.requests.indices {
            try await send(index, conditionally: !mode.ignoresValidators)
        }
        // No deletion is decided on half of the data.
        while let index = StackDecision.unchangedRequestToRepeat(source.requests, results) {
            try await send(index, conditionally: false)
        }
    }

    private func send(_ index: Int, conditionally: Bool) async throws {
        let request = source.requests[index]
        let clock = environment.clock
        let began = ContinuousClock.now
        defer { results[index].report.seconds += (ContinuousClock.now - began).seconds }
        do {
            try Task.checkCancellation()
            // The time it takes until there is a place is not the request's.
            try await environment.hosts.withPlace(at: HTTPTarget(resolved(request)).origin) {
                try await withDeadline(request.timeout, clock: clock) {
                    FetchError(
                        .timeout,
                        "\(request.method) \(request.url): the response was not complete within \(request.timeout)")
                } _: {
                    try await self.exchangeRepeatedly(index, conditionally: conditionally)
                }
            }
        } catch {
            results[index].report.outcome = "failed"
            if Task.isCancelled { throw CancellationError() }
            throw RunError(error, in: request)
        }
    }

    /// Sends a request that broke off again, where the declaration says so and it is safe.
    private func exchangeRepeatedly(_ index: Int, conditionally: Bool) async throws {
        var left = source.requests[index].safeRetries
        var pause = Duration.milliseconds(250)
        while true {
            do {
                return try await exchange(index, conditionally: conditionally)
            } catch let error as FetchError where error.isWorthRepeating && left > 0 && !Task.isCancelled {
                left -= 1
                try context?.forgetRequest(index)
                try await environment.clock.sleep(for: pause * Double.random(in: 0.8...1.2))
                pause = pause * 2
            }
        }
    }

    private func clock() -> Date { environment.clock.now() }

    private func exchange(_ index: Int, conditionally: Bool) async throws {
        let declared = source.requests[index]
        var request = try resolved(declared)
        var factory = BodyParserFactory(request: request, environment: environment)
        factory.notesUnused = notesUnused
        let fingerprint = declared.fingerprint(parserVersion: try factory.version())
        let stored = known[request.key].flatMap { $0.fingerprint == fingerprint ? $0 : nil }
        let isConditional = conditionally && !declared.isUnconditional
        let validators = isConditional ? stored?.validators ?? Validators() : Validators()
        let former = known[request.key].flatMap { $0.movedTimes >= Self.movesBelieved ? $0.movedTo : nil }
        if let former { advice.moved[request.key] = former }
        results[index].report.bytes = 0
        var records = 0
        var page = 1
        while true {
            if case .counter(let parameter, let start, let step)? = declared.paging?.next {
                request.parameters[parameter] = InterpolatedText(String(start + (page - 1) * step))
            }
            let exchange = try await environment.fetcher(for: request).fetch(
                request, validators: validators, movedTo: page == 1 ? former : nil)
            let response = exchange.response
            note(exchange, index)
            if response.status == 304, !validators.isEmpty {
                results[index].state = stored?.updated(by: response.validators)
                results[index].state?.note(movedTo: exchange.movedTo, former: former)
                results[index].report.outcome = "unchanged"
                return
            }
            guard request.acceptStatus.contains(response.status) else {
                throw FetchError(
                    [500, 502, 504].contains(response.status) ? .overloaded : .status,
                    "\(request.method) \(request.url): \(StackDecision.refusal(response.status))")
            }
            request.allowsEmpty = declared.allowsEmpty || page > 1
            factory.request = request
            let body = try await parse(exchange, request, with: factory, index: index)
            records += body.records
            if page == 1 {
                var state = RequestState(
                    key: request.key, validators: response.validators, fingerprint: fingerprint,
                    tables: body.tables.union(known[request.key]?.tables ?? []),
                    sync: request.mirrors ? .mirror : request.sync, scope: request.scope)
                state.digest = response.validators.isEmpty && !declared.isUnconditional ? body.digest : nil
                state.movedTo = known[request.key]?.movedTo
                state.movedTimes = known[request.key]?.movedTimes ?? 0
                state.note(movedTo: exchange.movedTo, former: former)
                if isConditional, let digest = state.digest, digest == stored?.digest {
                    // The same bytes as last time: their rows are in the store.
                    try context?.forgetRequest(index)
                    results[index].state = state
                    results[index].report.outcome = "unchanged"
                    return
                }
                results[index].state = state
            }
            guard let next = try nextPage(declared, body, of: response, page: page) else { break }
            page += 1
            if let url = next.url { request.url = InterpolatedText(value: url, template: request.url.template) }
        }
        if records == 0, declared.mirrors, !declared.allowsEmpty {
            throw FetchError(
                .status,
                "\(request.url): the feed holds no record, and mirroring it would delete every row; "
                    + "set allow_empty = true if that is meant")
        }
        results[index].report.outcome = "parsed"
    }

    /// Takes a response's head into account, whatever becomes of it.
    private func note(_ exchange: Exchange, _ index: Int) {
        results[index].report.status = exchange.response.status
        advice.note(exchange.response, origin: exchange.origin, at: clock())
        if advice.busyOrigin == exchange.origin, exchange.response.status == 429, let until = advice.retryAt {
            environment.busyHosts.leaveAlone(exchange.origin, until: until)
        }
    }

    /// Whether there is another page; its address, where the response names it.
    private func nextPage(_ request: RequestDeclaration, _ body: ParsedBody, of response: FeedResponse, page: Int)
        throws
        -> (url: String?, Void)?
    {
        guard let paging = request.paging else { return nil }
        var address: String?
        switch paging.next {
        case .counter:
            if body.records == 0 { return nil }
        case .path(_, let written):
            guard let found = body.nextPage, !found.isEmpty else { return nil }
            guard let base = URL(string: response.url), let url = URL(string: found, relativeTo: base)?.absoluteURL,
                url.scheme == base.scheme, url.host == base.host, url.port == base.port
            else {
                throw FetchError(
                    .redirect,
                    "\(request.url): '\(written)' leads from page \(page) to another origin, which is not followed")
            }
            address = url.absoluteString
        }
        guard page < paging.maxPages else {
            throw FetchError(
                .tooLarge,
                "\(request.url): there are more than \(paging.maxPages) pages; raise max_pages if that is meant")
        }
        return (address, ())
    }

    /// The request as it is sent, with what earlier responses and the store say.
    private func resolved(_ request: RequestDeclaration) throws -> RequestDeclaration {
        guard !request.references.isEmpty else { return request }
        var request = request
        let isWhole = request.url.value.first == InterpolatedText.mark && request.url.references.count == 1
        request.url = try request.url.resolved {
            isWhole ? try value($0, request) : HTTPTarget.encoded(try value($0, request))
        }
        request.headers = try request.headers.mapValues { try $0.resolved { try value($0, request) } }
        request.body = try request.body?.resolved { try value($0, request) }
        // A parameter for which the store has nothing yet is left out.
        request.parameters = try request.parameters.mapValues { try $0.resolved { try value($0, request) } }
            .filter { !($0.value.value.isEmpty && $0.value.template.contains("${last:")) }
        return request
    }

    private func value(_ reference: String, _ request: RequestDeclaration) throws -> String {
        if reference.hasPrefix("capture:") {
            let name = String(reference.dropFirst("capture:".count))
            guard let value = captured[name] else {
                throw FetchError(.status, "\(request.url): nothing was found to capture as '\(name)'")
            }
            return value
        }
        let expression = String(reference.dropFirst("last:".count))
        guard let table = environment.registry.tables(of: request.content).first else {
            throw FetchError(.status, "\(request.url): ${last:\(expression)} needs a request whose table is declared")
        }
        try BodyParserFactory(request: request, environment: environment).prepareStore()
        return try environment.store.value(of: expression, in: table, scope: request.scope) ?? ""
    }

    /// What a body has brought.
    private struct ParsedBody {
        var tables: Set<String>
        var records: Int
        var digest: String?
        var nextPage: String?
    }

    private func parse(
        _ exchange: Exchange, _ request: RequestDeclaration, with factory: BodyParserFactory, index: Int
    ) async throws -> ParsedBody {
        try factory.prepareStore()
        let context = try workerContext()
        var parser = try factory.makeParser(exchange.response, context: context, index: index)
        let mapped = parser as? MappingBodyParser
        let captures = CaptureHandler(request.capturedPaths)
        if !request.capturedPaths.isEmpty {
            parser = TeeBodyParser(parser, StreamBodyParser(captures, charset: exchange.response.charset))
        }
        let digests = exchange.response.validators.isEmpty && !request.isUnconditional
        let reader = try BodyReader(exchange.response, parser: parser, limit: request.maxBody, digests: digests)
        self.reader = reader
        defer {
            results[index].report.bytes += reader.count
            self.reader = nil
        }
        do {
            try await exchange.forEachPiece { piece in
                try self.reader?.read(piece)
                tellProgress(index, exchange)
            }
        } catch {
            throw FetchError.reading(error, request: request)
        }
        try reader.finish()
        if notesUnused, let mapped {
            unmatched.elements += mapped.handler.unmatchedElements(request: request.key)
            unmatched.columns += mapped.handler.unmatchedColumns(request: request.key)
        }
        for (position, capture) in request.captures.enumerated() { captured[capture.name] = captures.values[position] }
        return ParsedBody(
            tables: context.tables(ofRequest: index).union(environment.registry.tables(of: request.content)),
            records: context.insertedRows, digest: reader.digest, nextPage: captures.values[request.captures.count])
    }

    private func tellProgress(_ index: Int, _ exchange: Exchange) {
        environment.onProgress(
            RunProgress(
                source: source.name, request: source.requests[index].key, requestNumber: index + 1,
                requestCount: source.requests.count, bytes: reader?.received ?? 0, totalBytes: exchange.announcedBytes,
                rows: context?.insertedRows ?? 0))
    }

    private func workerContext() throws -> WorkerContext {
        if let context { return context }
        let context = try environment.store.makeWorkerContext(source: source.name)
        self.context = context
        interruption.onRequest(context.interrupter)
        return context
    }

    // MARK: - The end

    private func finish() throws -> RunReport {
        try Task.checkCancellation()
        guard let context, results.contains(where: { $0.report.outcome == "parsed" }) else {
            self.context?.remove()
            self.context = nil
            return record(Ending(outcome: .unchanged))
        }
        let stack = try context.finish()
        skipped = context.skippedRows
        let ending = Ending(outcome: .committed)
        var commit = commit(ending)
        commit.emptyMirrors = mirrors
        commit.checkMirrors = checkMirrors
        let report = try environment.store.commit(commit, merging: stack, interruption: interruption) { elapsed }
        context.remove()
        self.context = nil
        return report
    }

    /// The tables that the stack's changed requests mirror, rows or none.
    private var mirrors: [(table: String, scope: [String: String])] {
        let parsed = source.requests.indices.filter { results[$0].report.outcome == "parsed" }
        return parsed.flatMap { index in
            let request = source.requests[index]
            return (results[index].state?.tables ?? []).sorted().filter(request.mirrors)
                .map { (table: $0, scope: request.scope) }
        }
    }

    private var checkMirrors: @Sendable ([(source: String, state: RequestState)]) throws -> Void {
        { [source, results, configuration = environment.configuration] others in
            try StackDecision.checkMirrors(
                source: source, results: results, others: others, configuration: configuration)
        }
    }

    private func ending(with error: any Error) -> Ending {
        if Task.isCancelled || error is CancellationError { return Ending(outcome: .cancelled, error: "told to stop") }
        return Ending(outcome: .discarded, error: environment.configuration.redactor.redact("\(error)"))
    }

    /// Records a run that has no rows to merge.
    private func record(_ ending: Ending) -> RunReport {
        let commit = commit(ending)
        do {
            return try environment.store.commit(commit) { elapsed }
        } catch {
            // The report still reaches whoever asked; only the store could not take it.
            environment.logger.error(
                "The run cannot be recorded", metadata: ["source": "\(source.name)", "error": "\(error)"])
            var report = commit.report
            report.seconds = elapsed
            return report
        }
    }

    private struct Ending {
        var outcome: RunOutcome
        var error: String?
    }

    private func commit(_ ending: Ending) -> Commit {
        let now = environment.clock.now()
        let next = DueTime.state(
            after: ending.outcome, error: ending.error, source: source, last: state, startedAt: startedAt, now: now,
            advice: advice)
        let forgetBefore = now - environment.configuration.history.seconds
        let states = ending.outcome.isGood ? results.compactMap(\.state) : []
        var report = report(ending)
        report.nextDue = next.nextDue
        var commit = Commit(
            report: report, requests: states, state: next, stackKeys: source.requests.map(\.key),
            forgetBefore: forgetBefore)
        if let origin = advice.busyOrigin, let until = advice.retryAt { commit.busyHost = (origin, until) }
        return commit
    }

    private func report(_ ending: Ending) -> RunReport {
        RunReport(
            source: source.name, outcome: ending.outcome, startedAt: startedAt, seconds: elapsed,
            skipped: skipped,
            bytes: results.reduce(0) { $0 + $1.report.bytes }, error: ending.error, requests: results.map(\.report))
    }

    private var elapsed: Double { (ContinuousClock.now - start).seconds }
}
