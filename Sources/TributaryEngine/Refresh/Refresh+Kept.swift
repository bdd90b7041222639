import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import Logging

/// Keeps the bodies of a run, and reads kept bodies.
extension Refresh {
    private var bodies: BodyFolder { environment.bodies }

    // MARK: - Keeping

    /// Prepares to keep the bodies of the next request, and drops those of an earlier attempt.
    func beginKeeping(_ index: Int) {
        let request = run.source.requests[index]
        guard run.kept == nil, !notesUnused, request.keepsBodies || mayBeBlocked && request.content != .captures else {
            return
        }
        keepers[index] = nil
        keepers[index] = BodyKeeper(
            bodies, source: run.source.name, index: index, workFolder: environment.store.workFolder,
            isForBlockedRun: !request.keepsBodies, environment.random)
    }

    /// Returns the metadata of a kept body.
    ///
    /// - Parameter request: the request as sent.
    func keptBody(_ exchange: Exchange, of request: RequestDeclaration, _ index: Int) -> KeptBody {
        let declared = run.source.requests[index]
        return KeptBody(
            question: declared.digest.question, fetchedAt: exchange.response.fetchedAt,
            contentType: environment.storable(exchange.response.documentContentType),
            lastModified: environment.storable(exchange.response[header: "Last-Modified"]),
            baseURL: exchange.response.baseURL,
            requestedURL: declared.references.isEmpty ? nil : exchange.response.requestedURL, given: request.given)
    }

    /// Moves the bodies of a run into their folder after the last parse, and notes their names with the states of their
    /// requests. They are valid once the store has these.
    func keepBodies() throws {
        guard run.hasBodies else { return }
        for index in run.source.requests.indices {
            let request = run.source.requests[index]
            var names = run.known[request.key]?.bodies ?? []
            if run.results[index].report.outcome == .parsed, request.keepsBodies {
                let name = try keepers.removeValue(forKey: index)?.finish() ?? run.kept?.request(request.key)?.bodies
                if let name {
                    newBodies[index] = name
                    // Repeated bodies do not displace older ones.
                    if let last = names.first, BodyFolder.holdTheSame(last, name) { names.removeFirst() }
                    names.insert(name, at: 0)
                }
            }
            // Bodies from before are older than the rows, and a replay of them would undo changes.
            if run.lacksItems(index), newBodies[index] == nil { names = [] }
            run.results[index].state?.bodies = Array(names.prefix(request.keepsBodies ? request.keepBodies : 0))
        }
    }

    /// Removes invalid files after the run is recorded.
    ///
    /// - Parameter ending: how the run ended.
    func tidyBodies(_ ending: RunState.Ending) {
        keepers = [:]
        let isGood = ending.outcome.isGood
        // A discarded replay leaves the valid files unchanged.
        guard !notesUnused, isGood || !run.isReplay, run.mayHaveBodies else { return }
        let names =
            isGood
            ? Set(run.results.flatMap { $0.state?.bodies ?? run.known[$0.report.key]?.bodies ?? [] })
            : Set(run.known.values.flatMap(\.bodies))
        let isBlocked = ending.outcome == .blocked || !isGood && run.stored.isBlocked
        let failed = bodies.tidy(run.source.name, keeping: names, isBlocked: isBlocked)
        if !failed.isEmpty {
            environment.logger.warning(
                "Surplus kept bodies cannot be removed",
                metadata: ["source": "\(run.source.name)", "files": "\(failed.joined(separator: ", "))"])
        }
    }

    /// Keeps the documents of a blocked run, even if the source does not keep bodies. They stay until `accept`, the
    /// next commit, or the next blocked run.
    ///
    /// - Parameter exceeded: the exceeded limits.
    /// - Returns: true if the same documents were blocked before, so that their acceptance is valid for these.
    /// - Throws: ``StoreError`` if they cannot be kept.
    private func keepBlockedRun(_ exceeded: [ExceededLimit]) throws -> Bool {
        if var blocked = run.kept?.blocked {
            blocked.startedAt = run.startedAt
            blocked.exceeded = exceeded
            (blocked.shown, blocked.counts) = (review?.digest, review?.total)
            try bodies.keep(blocked, of: run.source.name, review)
            return false
        }
        for (index, keeper) in keepers where run.results[index].report.outcome == .parsed {
            newBodies[index] = try keeper.finish()
        }
        let parsed = run.source.requests.indices.filter { run.results[$0].report.outcome == .parsed }
        if let lost = parsed.first(where: { newBodies[$0] == nil }) {
            throw StoreError(.unavailable, "no body of request '\(run.source.requests[lost].key)' was kept")
        }
        let requests = run.source.requests.indices.map { index in
            let state = run.results[index].state
            return BlockedRun.Request(
                key: run.source.requests[index].key, bodies: newBodies[index],
                validators: state?.validators ?? Validators(),
                digest: state?.digest, movedTo: state?.movedTo, movedTimes: state?.movedTimes ?? 0)
        }
        var blocked = BlockedRun(
            startedAt: run.startedAt, declared: run.source.identity, requests: requests, exceeded: exceeded,
            shown: review?.digest, counts: review?.total)
        let former = run.stored.isBlocked ? bodies.blockedRun(of: run.source.name) : nil
        guard let former, former.isSame(as: blocked) else {
            try bodies.keep(blocked, of: run.source.name, review)
            return false
        }
        blocked.follow(former)
        try bodies.keep(blocked, of: run.source.name, review)
        return true
    }

    /// Keeps the documents of a blocked run, and adds to its error what to do.
    func block(_ ending: RunState.Ending) -> RunState.Ending {
        guard ending.outcome == .blocked else { return ending }
        var ending = ending
        if run.isReplay {
            ending.error? +=
                "; if that is intended, allow it by `tributary accept --in-advance \(run.source.name)`, and replay again"
            return ending
        }
        if let unusable = run.unusable { ending.error? += "; \(unusable)" }
        if run.kept?.blocked != nil {
            ending.error? += "; that is not what was accepted, as the rows in the store have changed since"
        }
        do {
            ending.isBlockedAgain = try keepBlockedRun(ending.exceeded)
            ending.error? += AcceptAdvice.text(for: run.source.name)
        } catch {
            ending.error? += "; its documents cannot be accepted, as they could not be kept: \(run.shown(error))"
        }
        return ending
    }

    // MARK: - Reading

    /// Reads the kept bodies of a request, as if a server had sent them.
    func readKept(_ index: Int, from kept: KeptStack) async throws {
        let declared = run.source.requests[index]
        let former = run.known[declared.key]
        guard let names = kept.names[declared.key] else {
            if declared.content != .captures {
                run.results[index].state = former
                run.results[index].report.outcome = .unchanged
            }
            return
        }
        var total = ParsedBody(tables: Set(environment.registry.tables(of: declared.content)))
        var count = 0
        var isSameQuestion = true
        try await noteAttempt()
        for name in names {
            var file = try KeptBodies(path: bodies.file(name, of: run.source.name))
            while let (body, exchange) = try file.next(declared: declared.url.template) {
                isSameQuestion = body.question == declared.digest.question
                let parsed = try await take(
                    prepared(exchange, declared), of: request(declared, for: body, isFirst: count == 0), index,
                    nil, known: nil)
                total.tables.formUnion(parsed.tables)
                total.records += parsed.records
                count += 1
            }
        }
        var state = newState(index, try run.fingerprint(declared), total)
        if let request = kept.request(declared.key) {
            state.validators = request.validators
            state.digest = request.digest
            (state.movedTo, state.movedTimes) = (request.movedTo, request.movedTimes)
        } else {
            // The rows are those of the same document as before, so its validators stay valid, unless the request has
            // changed.
            state.validators = isSameQuestion ? former?.validators ?? Validators() : Validators()
            state.digest = isSameQuestion ? former?.digest : nil
            (state.movedTo, state.movedTimes) = (former?.movedTo, former?.movedTimes ?? 0)
        }
        run.results[index].state = state
        if declared.forEach != nil { try checkRecords(total.records, of: declared, responses: count) }
        try finish(index, records: total.records)
    }

    private func prepared(_ exchange: Exchange, _ declared: RequestDeclaration) -> Exchange {
        var exchange = exchange
        exchange.response.isSOAP = declared.soap != nil
        return exchange
    }

    /// Returns a request as it was sent for a body.
    private func request(
        _ declared: RequestDeclaration, for body: KeptBody, isFirst: Bool
    ) throws -> RequestDeclaration {
        var request = declared
        // A page after the first may be empty, and so may the response for one of several rows.
        request.allowsEmpty = declared.allowsEmpty || !isFirst || declared.forEach != nil
        request.given = body.given
        for reference in declared.mappedReferences where body.given[reference.description] == nil {
            throw StackError(
                "\(declared.url): the kept body does not tell \(reference), which a column has taken only since; "
                    + "`tributary sync \(run.source.name) --full` fetches it again")
        }
        return request
    }
}
