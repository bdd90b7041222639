import FeedDeclarations
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import Logging

/// Keeps the bodies that a run parses, and makes a run of those that were kept.
extension StackRun {
    private var bodies: BodyFolder { environment.bodies }

    /// True where bodies are kept, or were before the declaration changed.
    private var hasBodies: Bool { source.keepsBodies || known.values.contains { !$0.bodies.isEmpty } }

    // MARK: - Keeping

    /// Prepares to keep the bodies of a request that is about to be sent, and drops those of an earlier attempt.
    func beginKeeping(_ index: Int) {
        let request = source.requests[index]
        guard kept == nil, !notesUnused, request.keepsBodies || mayBeBlocked && request.content != .captures else {
            return
        }
        keepers[index] = nil
        keepers[index] = BodyKeeper(
            bodies, source: source.name, index: index, workFolder: environment.store.workFolder,
            isForBlockedRun: !request.keepsBodies)
    }

    /// True where a limit may block the run.
    private var mayBeBlocked: Bool { !isReplay && source.requests.contains(where: \.isLimited) }

    /// Returns what is known of a body, for those who read it again.
    ///
    /// - Parameter request: the request as it was sent.
    func keptBody(_ exchange: Exchange, of request: RequestDeclaration, _ index: Int) -> KeptBody {
        let declared = source.requests[index]
        func header(_ name: String) -> String? {
            exchange.response[header: name].flatMap { environment.holdsSecret($0) ? nil : $0 }
        }
        return KeptBody(
            question: declared.questionFingerprint, fetchedAt: exchange.response.fetchedAt,
            contentType: header("Content-Type"), lastModified: header("Last-Modified"),
            baseURL: exchange.response.baseURL,
            requestedURL: declared.references.isEmpty ? nil : exchange.response.requestedURL, given: request.given)
    }

    /// Moves the bodies of a run that has parsed everything to their place, and notes their names with the states of
    /// their requests. They count once these are in the store.
    func keepBodies() throws {
        guard hasBodies else { return }
        for index in source.requests.indices {
            let request = source.requests[index]
            var names = known[request.key]?.bodies ?? []
            if results[index].report.outcome == .parsed, request.keepsBodies {
                let name = try keepers.removeValue(forKey: index)?.finish() ?? kept?.request(request.key)?.bodies
                if let name {
                    newBodies[index] = name
                    // The same bodies once more push none of the older ones out.
                    if let last = names.first, BodyFolder.holdTheSame(last, name) { names.removeFirst() }
                    names.insert(name, at: 0)
                }
            }
            results[index].state?.bodies = Array(names.prefix(request.keepsBodies ? request.keepBodies : 0))
        }
    }

    /// Removes the files that do not count any more, once the run is recorded.
    ///
    /// - Parameter ending: how the run ended.
    func tidyBodies(_ ending: Ending) {
        keepers = [:]
        let isGood = ending.outcome.isGood
        // A replay that was discarded has changed nothing of what counts.
        guard !notesUnused, isGood || !isReplay, hasBodies || bodies.exists(of: source.name) else { return }
        let names =
            isGood
            ? Set(results.flatMap { $0.state?.bodies ?? known[$0.report.key]?.bodies ?? [] })
            : Set(known.values.flatMap(\.bodies))
        let isBlocked = ending.isHeld || !isGood && state.isHeldBack
        let failed = bodies.tidy(source.name, keeping: names, isBlocked: isBlocked)
        if !failed.isEmpty {
            environment.logger.warning(
                "Bodies that are not kept any more cannot be removed",
                metadata: ["source": "\(source.name)", "files": "\(failed.joined(separator: ", "))"])
        }
    }

    /// Keeps the documents of a run that is blocked, whether or not the source keeps its bodies. They stay until they are
    /// accepted, another run commits, or another one is blocked.
    ///
    /// - Parameter exceeded: what the commit would have done, and was not allowed to.
    /// - Returns: true where the same documents were blocked before, so that an acceptance of those is for these.
    /// - Throws: ``StoreError`` where they cannot be kept.
    private func keepBlockedRun(_ exceeded: [ExceededLimit]) throws -> Bool {
        if var held = kept?.held {
            held.startedAt = startedAt
            held.exceeded = exceeded
            try bodies.keep(held, of: source.name)
            return false
        }
        for (index, keeper) in keepers where results[index].report.outcome == .parsed {
            newBodies[index] = try keeper.finish()
        }
        let parsed = source.requests.indices.filter { results[$0].report.outcome == .parsed }
        if let lost = parsed.first(where: { newBodies[$0] == nil }) {
            throw StoreError(.unavailable, "no body of request '\(source.requests[lost].key)' was kept")
        }
        let requests = source.requests.indices.map { index in
            let state = results[index].state
            return HeldRun.Request(
                key: source.requests[index].key, bodies: newBodies[index],
                validators: state?.validators ?? Validators(),
                digest: state?.digest, movedTo: state?.movedTo, movedTimes: state?.movedTimes ?? 0)
        }
        let run = HeldRun(startedAt: startedAt, declared: source.identity, requests: requests, exceeded: exceeded)
        let isKnown = state.isHeldBack && bodies.heldRun(of: source.name)?.isSame(as: run) == true
        try bodies.keep(run, of: source.name)
        return isKnown
    }

    /// Keeps the documents of a run where it is blocked, and says what can be done about that.
    func block(_ ending: Ending) -> Ending {
        guard ending.isHeld else { return ending }
        var ending = ending
        if isReplay {
            ending.error? +=
                "; if that is meant, let it through by `tributary accept --in-advance \(source.name)`, and replay again"
            return ending
        }
        if let unusable { ending.error? += "; \(unusable)" }
        if kept?.held != nil {
            ending.error? += "; that is more than what was accepted, as the rows in the store have changed since"
        }
        do {
            ending.isBlockedAgain = try keepBlockedRun(ending.exceeded)
            ending.error? += "; if the documents are right, `tributary accept \(source.name)` commits them"
        } catch {
            ending.error? += "; its documents cannot be accepted, as they could not be kept: \(shown(error))"
        }
        return ending
    }

    /// Returns true where a request may be conditional: its rows need not be fetched for their body alone.
    func hasKeptBody(_ index: Int) -> Bool {
        let request = source.requests[index]
        return !request.keepsBodies || bodies.has(known[request.key]?.bodies.first, of: source.name)
    }

    // MARK: - Reading

    /// Returns the last kept bodies of all requests.
    ///
    /// - Throws: ``StackError`` naming the requests of which none is kept, and what to do.
    func lastBodies() throws -> KeptStack {
        guard state.undone == nil else {
            throw StackError(
                .reference,
                "the source was brought back to an earlier run, and its last kept bodies are those that were undone; "
                    + "`tributary release \(source.name)` lets it go on from them")
        }
        let requests = source.requests.filter { $0.content != .captures }
        let missing = requests.filter { !bodies.has(known[$0.key]?.bodies.first, of: source.name) }
        guard missing.isEmpty else {
            let names = missing.map { "'\($0.key)'" }.joined(separator: ", ")
            let advice =
                missing.allSatisfy(\.keepsBodies)
                ? "`tributary sync \(source.name) --full` fetches and keeps them"
                : "set keep_bodies = 1 for the source, and `tributary sync \(source.name) --full` fetches and keeps them"
            throw StackError(
                .reference,
                "no body of request \(names) is kept in \(bodies.folder(of: source.name)), so there is nothing to replay; "
                    + advice)
        }
        if let appended = requests.first(where: \.appends) {
            throw StackError(
                .reference,
                "request '\(appended.key)' appends its rows (sync = \"append\"), so a replay would insert them once more"
            )
        }
        return KeptStack(
            names: requests.reduce(into: [:]) { names, request in
                let kept = known[request.key]?.bodies.filter { bodies.has($0, of: source.name) } ?? []
                // What an older body had, and the last one has not, is gone where rows are deleted.
                names[request.key] = readsAllBodies && !request.deletesRows ? kept.reversed() : Array(kept.prefix(1))
            })
    }

    /// Returns the documents of the source's blocked run, where that has been accepted.
    ///
    /// Where they cannot be committed any more, ``unusable`` says why, and the run goes on without them.
    func acceptedBodies() throws -> KeptStack? {
        guard state.isHeldBack, let run = try environment.store.acceptance(of: source.name, at: startedAt)?.run else {
            return nil
        }
        guard try environment.store.blockedRun(of: source.name)?.number == run,
            let blocked = try environment.store.recordedRun(run),
            let held = bodies.heldRun(of: source.name), held.isRecorded(as: blocked), try isWhole(held)
        else {
            unusable =
                "run \(run) was accepted, and its documents are no longer kept in \(bodies.folder(of: source.name)), so "
                + "that others were fetched"
            return nil
        }
        guard held.declared == source.identity else {
            unusable =
                "run \(run) was accepted, and the source has been declared differently since, so that other documents "
                + "were fetched"
            return nil
        }
        return KeptStack(
            names: held.requests.reduce(into: [:]) { names, request in names[request.key] = request.bodies.map { [$0] }
            },
            held: held)
    }

    /// Returns true where the documents of all requests are there: their bodies, or their rows in the store where they
    /// were unchanged.
    private func isWhole(_ held: HeldRun) throws -> Bool {
        guard held.requests.map(\.key) == source.requests.map(\.key) else { return held.declared != source.identity }
        return try zip(held.requests, source.requests).allSatisfy { request, declared in
            if let name = request.bodies { return bodies.has(name, of: source.name) }
            if declared.content == .captures { return true }
            guard let known = known[request.key] else { return false }
            return try known.fingerprint == fingerprint(declared) && (!known.validators.isEmpty || known.digest != nil)
        }
    }

    /// Reads the kept bodies of a request, as if a server had sent them.
    func readKept(_ index: Int, from kept: KeptStack) async throws {
        let declared = source.requests[index]
        let former = known[declared.key]
        guard let names = kept.names[declared.key] else {
            if declared.content != .captures {
                results[index].state = former
                results[index].report.outcome = .unchanged
            }
            return
        }
        var total = ParsedBody(tables: Set(environment.registry.tables(of: declared.content)))
        var count = 0
        var isSameQuestion = true
        for name in names {
            var file = try KeptBodies(path: bodies.file(name, of: source.name))
            while let (body, exchange) = try file.next(declared: declared.url.template) {
                isSameQuestion = body.question == declared.questionFingerprint
                let parsed = try await take(
                    prepared(exchange, declared), of: request(declared, for: body, isFirst: count == 0), index,
                    known: nil)
                total.tables.formUnion(parsed.tables)
                total.records += parsed.records
                count += 1
            }
        }
        var state = newState(index, try fingerprint(declared), total)
        if let held = kept.request(declared.key) {
            state.validators = held.validators
            state.digest = held.digest
            (state.movedTo, state.movedTimes) = (held.movedTo, held.movedTimes)
        } else {
            // The rows stand for the same document as before, so its validators hold, unless another one is asked for.
            state.validators = isSameQuestion ? former?.validators ?? Validators() : Validators()
            state.digest = isSameQuestion && !declared.isUnconditional ? former?.digest : nil
            (state.movedTo, state.movedTimes) = (former?.movedTo, former?.movedTimes ?? 0)
        }
        results[index].state = state
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
        for reference in declared.mappedReferences where body.given[reference] == nil {
            throw StackError(
                .reference,
                "\(declared.url): the kept body does not tell \(reference), which a column has taken only since; "
                    + "`tributary sync \(source.name) --full` fetches it anew")
        }
        return request
    }
}

extension RequestDeclaration {
    /// True where rows with a known key are inserted again.
    fileprivate var appends: Bool {
        guard case .mapping(let mapping) = content else { return sync == .append }
        return mapping.tables.contains { sync(of: $0) == .append }
    }
}
