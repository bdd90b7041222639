import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation

/// Sends the requests of a stack, one after another.
extension Refresh {
    func sendRequests() async throws {
        defer { archives = [:] }
        try await sendAll()
        guard let undone = run.undone, run.results.contains(where: { $0.report.outcome == .parsed }) else { return }
        // The feed differs from the undone one, so all of it is committed.
        run.undone = nil
        context?.remove()
        context = nil
        run.captured = [:]
        (provenances, captureBases) = ([:], [:])
        run.known = run.known.mapValues { state in
            var state = state
            state.validators = Validators()
            state.digest = nil
            return state
        }
        run.results = run.source.requests.map { RequestResult(key: $0.key) }
        try await sendAll()
        if run.results.allSatisfy({ undone.isVersion($0.state, of: $0.report.key) }) {
            throw StackError(
                "the feed differed from the undone one, but was the undone one when it was fetched again, as if several "
                    + "servers answered in turns; nothing is committed until they agree, or after `tributary resume \(run.source.name)`"
            )
        }
    }

    private func sendAll() async throws {
        // The first requests may have been answered before the refresh began.
        for index in run.source.requests.indices where run.results[index].report.outcome == .skipped {
            try await send(
                index,
                conditionally: (run.undone != nil || !run.mode.ignoresValidators) && !run.source.isAlwaysRead(index))
        }
        if try endUnchanged() { return }
        // No deletion is decided on partial data.
        while let index = try unchangedRequestToRepeat() {
            guard run.kept == nil else {
                throw StackError(
                    "request '\(run.source.requests[index].key)' was unchanged, and its rows must be fetched again with the others; "
                        + "the next run does so")
            }
            try await send(index, conditionally: false)
            guard run.results[index].files?.isEmpty != true else {
                throw StackError(
                    "request '\(run.source.requests[index].key)' has no file any more (after_commit), and another request of "
                        + "the source would delete its rows; declare a 'scope' for each, or sync = \"upsert\"")
            }
        }
    }

    private func unchangedRequestToRepeat() throws -> Int? {
        try unchangedArchiveToRepeat()
            ?? StackDecision.lookupToRepeat(
                run.source.requests, run.results, of: run.source.name, environment.configuration.lookups,
                expiring: expiringTables())
            ?? StackDecision.unchangedRequestToRepeat(run.source.requests, run.results) { table, scopes in
                try environment.store.comparison(of: table, scopes: scopes)
            }
    }

    /// The tables with rules for the expiry of rows, if any row has expired that others may refer to. Accepted documents are
    /// committed without others.
    private func expiringTables() throws -> [String] {
        guard run.kept == nil, !environment.configuration.lookups.isEmpty, try hasExpiredRows() else { return [] }
        return run.retention.expiries.map(\.table)
    }

    /// Returns a request that was answered with 304 before another one received a newer version of the same archive.
    private func unchangedArchiveToRepeat() -> Int? {
        run.source.requests.indices.first { index in
            guard run.results[index].report.outcome == .unchanged, let state = run.results[index].state,
                let archive = archive(of: index)
            else { return false }
            return state.validators != archive.exchange.response.validators
        }
    }

    /// Returns the archive of a request that an equal request has received; nil without.
    func archive(of index: Int) -> ReceivedArchive? {
        run.kept == nil ? run.archives.key(of: index).flatMap { archives[$0] } : nil
    }

    private func conditions(of index: Int, conditionally: Bool) throws -> RunState.Conditions {
        try run.conditions(
            of: run.source.requests[index],
            isConditional: conditionally && (run.undone != nil || run.hasKeptBody(index)))
    }

    private func send(_ index: Int, conditionally: Bool) async throws {
        let request = run.source.requests[index]
        let begun = takeFound(index)
        defer { begun?.permit.release() }
        begun?.clock.resume { [executor] in executor.timeWaited }
        let clock = begun?.clock ?? exchangeClock()
        defer { run.results[index].report.seconds += clock.spent.seconds }
        do {
            try Task.checkCancellation()
            run.results[index].report.bytes = 0
            run.results[index].leftOut = nil
            run.results[index].documents = DocumentNotes()
            if let kept = run.kept {
                permits.releaseHost()
                return try await readKept(index, from: kept)
            }
            if let forEach = request.forEach {
                let items = ItemRequests(index: index, declared: request, forEach: forEach, clock: clock)
                return try await items.send(on: self)
            }
            if begun == nil, run.archives.key(of: index) != nil {
                let conditions = try conditions(of: index, conditionally: conditionally)
                if let answer = run.archives.unchanged(index, conditions.validators) {
                    return run.noteUnchanged(answer, index, conditions)
                }
            }
            let resolved = try resolver().resolve(request)
            let permit: HostPermit? =
                if let begun {
                    begun.permit
                } else if archive(of: index) != nil || request.until != nil {
                    nil
                } else {
                    // The wait for a permit counts neither towards the request's timeout nor as its time.
                    try await clock.pausing { try await permits.permit(at: resolved.origin()) }
                }
            defer { permit?.release() }
            try await clock.limiting(request, by: environment.clock) {
                try await self.exchange(
                    resolved, index, conditionally: conditionally, begun, ExchangeContext(permit, clock))
            }
        } catch {
            run.results[index].report.outcome = .failed
            if Task.isCancelled { throw CancellationError() }
            throw RunError(error, in: request)
        }
    }

    /// Returns the first response of the refresh, once, if it belongs to a request.
    private func takeFound(_ index: Int) -> Poll.Found? {
        guard let found, found.index == index else { return nil }
        self.found = nil
        return found
    }

    /// Starts the clock of an exchange.
    ///
    /// - Parameter whole: the clock of the request, for one of several exchanges.
    nonisolated func exchangeClock(partOf whole: ExchangeClock? = nil) -> ExchangeClock {
        environment.exchangeClock(partOf: whole) { [executor] in executor.timeWaited }
    }

    func resolver() -> RequestResolver {
        RequestResolver(
            environment: environment, captured: run.captured, stack: run.source.requests, startedAt: run.startedAt,
            bases: captureBases, provenances: provenances, rowProvenance: rowProvenance, additions: run.additions)
    }

    // MARK: - One request

    /// Sends a request and reads its response; repeats both if the transfer breaks off.
    ///
    /// - Parameters:
    ///   - request: the request to send.
    ///   - begun: its response, if already received.
    private func exchange(
        _ request: RequestDeclaration, _ index: Int, conditionally: Bool, _ begun: Poll.Found?,
        _ context: ExchangeContext
    ) async throws {
        repetitions = begun?.repetitions ?? Repetitions(of: request)
        while true {
            do {
                return try await exchangeOnce(
                    request, index, conditionally: conditionally, begun?.takeExchange(), context)
            } catch {
                guard try await mayRepeat(after: error) else { throw error }
                try self.context?.forgetRequest(index)
            }
        }
    }

    /// Waits for the next attempt of the exchange.
    ///
    /// - Returns: false if the error is final.
    /// - Throws: `CancellationError`.
    func mayRepeat(after error: any Error) async throws -> Bool {
        var left = repetitions
        defer { repetitions = left }
        return try await left.wait(after: error, in: environment)
    }

    private func exchangeOnce(
        _ request: RequestDeclaration, _ index: Int, conditionally: Bool, _ begun: Exchange?,
        _ context: ExchangeContext
    ) async throws {
        let declared = run.source.requests[index]
        let conditions = try conditions(of: index, conditionally: conditionally)
        beginKeeping(index)
        if let movedTo = conditions.movedTo { run.hints.moved[request.key] = movedTo }
        run.results[index].report.bytes = 0
        run.results[index].documents = DocumentNotes()
        let exchange: Exchange
        if let begun {
            exchange = begun
            noteProvenance(begun)
        } else if let archive = archive(of: index) {
            exchange = archive.exchange
            run.results[index].report.status = exchange.response.status
        } else if let until = declared.until {
            context.clock?.pause()
            defer { context.clock?.resume() }
            exchange = try await awaitResponse(to: request, until, index, conditions)
        } else {
            let first = declared.paging?.firstPage(of: request) ?? request
            func send() async throws -> Exchange { try await environment.fetch(first, context, conditions) }
            exchange = try await run.hasRowsOrCaptures ? obeying(send) : send()
            note(exchange, index)
        }
        if run.results[index].files?.isEmpty == true { return run.noteNoFile(index, conditions) }
        if exchange.response.status == 304, !conditions.validators.isEmpty {
            return run.noteUnchanged(exchange, index, conditions)
        }
        let body = try await takeChanged(exchange, of: request, index, context, conditions)
        var state = newState(index, conditions.fingerprint, body)
        state.validators = exchange.response.validators
        // A captured token may come back in them.
        if let captures = run.captureRedactor {
            state.validators.etag = environment.storable(state.validators.etag, without: captures)
            state.validators.lastModified = environment.storable(state.validators.lastModified, without: captures)
        }
        if run.results[index].documents.areSome {
            state.shape = conditions.stored?.shape
        } else if isKnownByDigest(index, state.validators) {
            state.digest = body.digest
        }
        state.movedTo = run.known[request.key]?.movedTo
        state.movedTimes = run.known[request.key]?.movedTimes ?? 0
        state.note(movedTo: exchange.movedTo, former: conditions.movedTo)
        run.results[index].state = state
        if let digest = state.digest, digest == conditions.digest {
            try self.context?.forgetRequest(index)
            return try noteEqual(index)
        }
        try finish(index, records: body.records)
    }

    /// Ends the run as unchanged if all documents are those of the last commit, although some had to be read again.
    ///
    /// - Returns: false if one differs. Then the rows of all that were read are committed.
    private func endUnchanged() throws -> Bool {
        guard run.kept == nil, run.undone == nil, !run.mode.ignoresValidators else { return false }
        let parsed = run.source.requests.indices.filter { run.results[$0].report.outcome == .parsed }
        guard !parsed.isEmpty, try parsed.allSatisfy(isAsCommitted) else { return false }
        // Rows that were read may refer to rows that expire now, and expectations may compare them with the time.
        guard try !hasExpiredRows() else { return false }
        let unmet = try unmetExpectations()
        guard unmet.blocking.isEmpty, unmet.notes.isEmpty else { return false }
        for index in parsed { try noteEqual(index) }
        return true
    }

    private func isAsCommitted(_ index: Int) throws -> Bool {
        guard let digest = run.results[index].state?.digest, run.hasKeptBody(index) else { return false }
        return try digest == run.conditions(of: run.source.requests[index], isConditional: false).stored?.digest
    }

    /// Notes that a request's documents are those of the last commit, whose rows are in the store.
    private func noteEqual(_ index: Int) throws {
        let request = run.source.requests[index]
        run.results[index].report.outcome = .unchanged
        if var undone = run.undone {
            undone.note(run.results[index].state?.validators ?? Validators(), of: request.key)
            (run.undone, run.stored.undone) = (undone, try undone.text)
            run.results[index].state = nil
            return
        }
        guard let stored = run.known[request.key] else { return }
        run.results[index].state?.tables = stored.tables
        run.results[index].state?.scope = stored.scope
        run.results[index].state?.schema = stored.schema
        run.results[index].state?.shape = stored.shape
    }

    func newState(_ index: Int, _ fingerprint: String, _ body: ParsedBody) -> RequestState {
        let request = run.source.requests[index]
        return RequestState(
            key: request.key, validators: Validators(), fingerprint: fingerprint,
            tables: body.tables.union(run.known[request.key]?.tables ?? []),
            sync: request.mirrors ? .mirror : request.sync, scope: request.scope)
    }

    /// - Parameter leftOut: the omitted items; with any, the mirror deletes no rows.
    func finish(_ index: Int, records: Int, _ leftOut: LeftOutItems = LeftOutItems(most: nil)) throws {
        let request = run.source.requests[index]
        try checkRejected(index, records: records)
        if !request.allowsEmpty, let mismatch = run.results[index].documents.responses.mismatch { throw mismatch }
        if leftOut.count > 0 {
            run.results[index].leftOut = leftOut
        } else if records == 0, request.mirrors, !request.allowsEmpty {
            throw StackError(
                "\(request.url): the feed holds no record, and mirroring it would delete every row; "
                    + "set allow_empty = true if that is valid")
        }
        // An incomplete feed must not be kept, because a replay would take it for the whole feed.
        if run.lacksItems(index), run.source.requests.contains(where: \.deletesRows) { keepers[index] = nil }
        run.results[index].isEmpty = records == 0 && leftOut.count == 0
        run.results[index].report.outcome = request.content == .captures ? .captured : .parsed
    }

    /// - Throws: ``StackError`` if all records of a request were left out because of errors, or too many.
    private func checkRejected(_ index: Int, records: Int) throws {
        let request = run.source.requests[index]
        guard let skipped = context?.skipped(of: index), skipped.invalid > 0 else { return }
        let reason = skipped.errors.first.map { "; the first: \($0)" } ?? ""
        let count = "\(skipped.invalid) record\(skipped.invalid == 1 ? "" : "s")"
        guard !skipped.leavesNone else {
            throw StackError(
                "\(request.url): no record is left, as \(count) would be left out (on_error = \"skip\"); correct the mapping, or "
                    + "ask the publisher\(reason)")
        }
        guard let most = request.maxSkipped, most.isExceeded(by: skipped.invalid, of: records) else { return }
        throw StackError(
            "\(request.url): \(count) of \(records) would be left out (on_error = \"skip\"), and max_skipped = \(most) "
                + "allows no more; correct the mapping, or raise max_skipped\(reason)")
    }

    /// - Throws: ``StackError`` if no response of a `for_each` request has a record.
    func checkRecords(_ records: Int, of declared: RequestDeclaration, responses: Int) throws {
        guard case .mapping = declared.content, records == 0, responses > 0, !declared.allowsEmpty else { return }
        throw StackError(
            "\(declared.url): none of \(responses) responses held a record; correct the mapping, or set "
                + "allow_empty = true if that is valid")
    }
}
