import FeedDeclarations
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation

/// Sends the requests of a stack, one after another.
extension StackRun {
    func sendRequests() async throws {
        try await sendAll()
        guard undone != nil, results.contains(where: { $0.report.outcome == .parsed }) else { return }
        // The feed differs from the one that was undone: all of it is taken.
        undone = nil
        context?.remove()
        context = nil
        captured = [:]
        leads = [:]
        known = known.mapValues { state in
            var state = state
            state.validators = Validators()
            state.digest = nil
            return state
        }
        results = source.requests.map { RequestResult(key: $0.key) }
        try await sendAll()
    }

    private func sendAll() async throws {
        // A 304 stages no rows, but a later request may query them.
        let lastThatAsks = source.requests.lastIndex { $0.forEach != nil } ?? -1
        for index in source.requests.indices {
            try await send(index, conditionally: (undone != nil || !mode.ignoresValidators) && index > lastThatAsks)
        }
        // No deletion is decided on partial data.
        while let index = try unchangedRequestToRepeat() {
            guard kept == nil else {
                throw StackError(
                    .reference,
                    "request '\(source.requests[index].key)' was unchanged, and its rows must be fetched again with the others; "
                        + "the next run does so")
            }
            try await send(index, conditionally: false)
        }
    }

    private func unchangedRequestToRepeat() throws -> Int? {
        try StackDecision.unchangedRequestToRepeat(source.requests, results) { table, scope in
            try environment.store.comparison(of: table, columns: Set(scope.keys.map { $0.lowercased() }))
        }
    }

    private func send(_ index: Int, conditionally: Bool) async throws {
        let request = source.requests[index]
        let active = ActiveTime { [clock = environment.clock] in clock.uptime }
        active.begin()
        defer { results[index].report.seconds += active.total.seconds }
        do {
            try Task.checkCancellation()
            results[index].report.bytes = 0
            // The turn is for the first request. Where nothing is sent, others have it.
            let turn = permit.turn
            permit.turn = nil
            if let kept { return try await readKept(index, from: kept) }
            if let forEach = request.forEach {
                return try await lendingSlot { try await sendForEachRow(index, forEach, active) }
            }
            let resolved = try resolver().resolve(request)
            // The wait for a place counts neither towards the request's timeout nor as its time.
            let place = exchangePlace(
                try await active.waiting { try await self.place(at: resolved.origin()) }, mayWait: true)
            try await lendingSlot {
                try await HostPace.Turn.$current.withValue(turn) {
                    try await ExchangePlace.$current.withValue(place) {
                        try await withinTimeout(of: request, active) {
                            try await self.repeating(request, undoing: index) {
                                try await self.exchange(resolved, index, conditionally: conditionally)
                            }
                        }
                    }
                }
            }
        } catch {
            results[index].report.outcome = .failed
            if Task.isCancelled { throw CancellationError() }
            throw RunError(error, in: request)
        }
    }

    func resolver() -> RequestResolver {
        RequestResolver(
            environment: environment, captured: captured, stack: source.requests, leads: leads, rowLead: rowLead)
    }

    func withinTimeout<Value: Sendable>(
        of request: RequestDeclaration, _ active: ActiveTime, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let progress = ExchangeProgress(active)
        let clock = environment.clock
        return try await withDeadline(request.timeout, clock: clock, paused: { progress.paused(until: clock.uptime) }) {
            let error = FetchError(
                .timeout, "\(request.method) \(request.url): \(progress.lateness(after: request.timeout))")
            return progress.page.map(error.on) ?? error
        } _: {
            try await ExchangeProgress.$current.withValue(progress) { try await operation() }
        }
    }

    /// The longest pause between two attempts of one exchange. The first pause is a quarter of a second, each further
    /// one twice as long.
    private static let longestPause = Duration.seconds(3600)

    /// Repeats a request that broke off, if its declaration says so and it is safe.
    ///
    /// - Parameter index: the request whose rows are dropped before each repetition; nil if none can have been staged.
    private func repeating<Value: Sendable>(
        _ request: RequestDeclaration, undoing index: Int?, _ operation: @Sendable () async throws -> Value
    ) async throws -> Value {
        var left = request.safeRetries
        var pause = Duration.milliseconds(250)
        while true {
            do {
                return try await operation()
            } catch let error as FetchError where error.isWorthRepeating && left > 0 && !Task.isCancelled {
                left -= 1
                if let index { try context?.forgetRequest(index) }
                try await environment.clock.sleep(for: pause * Double.random(in: 0.8...1.2))
                pause = min(pause * 2, Self.longestPause)
            }
        }
    }

    // MARK: - One request

    /// - Parameter request: the request as it is sent.
    private func exchange(_ request: RequestDeclaration, _ index: Int, conditionally: Bool) async throws {
        let declared = source.requests[index]
        let fingerprint = try fingerprint(declared)
        let stored =
            undone.map { $0.state(of: request.key, known[request.key], fingerprint: fingerprint) }
            ?? known[request.key].flatMap { $0.fingerprint == fingerprint ? $0 : nil }
        let isConditional = conditionally && !declared.isUnconditional && (undone != nil || hasKeptBody(index))
        beginKeeping(index)
        let validators = isConditional ? stored?.validators ?? Validators() : Validators()
        let former =
            declared.references.isEmpty
            ? known[request.key].flatMap { $0.movedTimes >= Self.movesBelieved ? $0.movedTo : nil } : nil
        if let former { advice.moved[request.key] = former }
        results[index].report.bytes = 0
        var exchange = try await environment.fetch(
            declared.paging?.firstPage(of: request) ?? request, validators: validators, movedTo: former)
        // A new address is not kept if it contains a secret, or if the request has references: their values may differ
        // next time.
        if let movedTo = exchange.movedTo,
            !declared.references.isEmpty || environment.holdsSecret(movedTo)
        {
            exchange.movedTo = nil
        }
        note(exchange, index)
        if exchange.response.status == 304, !validators.isEmpty {
            results[index].report.outcome = .unchanged
            guard undone == nil else { return }
            results[index].state = stored?.updated(by: exchange.response.validators)
            results[index].state?.note(movedTo: exchange.movedTo, former: former)
            return
        }
        let body = try await takePages(exchange, of: request, index, known: isConditional ? stored?.digest : nil)
        var state = newState(index, fingerprint, body)
        state.validators = exchange.response.validators
        state.digest = isKnownByDigest(declared, state.validators) ? body.digest : nil
        state.movedTo = known[request.key]?.movedTo
        state.movedTimes = known[request.key]?.movedTimes ?? 0
        state.note(movedTo: exchange.movedTo, former: former)
        results[index].state = state
        if isConditional, let digest = state.digest, let stored, digest == stored.digest {
            // The same bytes as last time: their rows are already in the store.
            try context?.forgetRequest(index)
            results[index].report.outcome = .unchanged
            if undone != nil {
                results[index].state = nil
                return
            }
            results[index].state?.tables = stored.tables
            results[index].state?.scope = stored.scope
            results[index].state?.schema = stored.schema
            return
        }
        try finish(index, records: body.records)
    }

    func fingerprint(_ request: RequestDeclaration) throws -> String {
        request.fingerprint(
            parserVersion: try BodyParserFactory(request: request, environment: environment).version(),
            encryptionKey: environment.configuration.encryptionKey)
    }

    func newState(_ index: Int, _ fingerprint: String, _ body: ParsedBody) -> RequestState {
        let request = source.requests[index]
        return RequestState(
            key: request.key, validators: Validators(), fingerprint: fingerprint,
            tables: body.tables.union(known[request.key]?.tables ?? []),
            sync: request.mirrors ? .mirror : request.sync, scope: request.scope)
    }

    func finish(_ index: Int, records: Int) throws {
        let request = source.requests[index]
        if records == 0, request.mirrors, !request.allowsEmpty {
            throw StackError(
                .empty,
                "\(request.url): the feed holds no record, and mirroring it would delete every row; "
                    + "set allow_empty = true if that is meant")
        }
        results[index].report.outcome = request.content == .captures ? .captured : .parsed
    }

    // MARK: - A request for each row

    /// Sends a request once for each row of its query. Awaits the heads of the next few responses while it parses a
    /// body. Parses the bodies in the order of the rows.
    private func sendForEachRow(_ index: Int, _ forEach: ForEachDeclaration, _ active: ActiveTime) async throws {
        let declared = source.requests[index]
        let found = try workerContext().rows(forEach.query, limit: min(forEach.maxRequests, .max - 1) + 1)
        guard found.rows.count <= forEach.maxRequests else {
            throw FetchError(
                .tooLarge,
                "\(declared.url): for_each finds more than \(forEach.maxRequests) rows; raise max_requests if that is meant"
            )
        }
        // One row's response may be empty; the check for records covers all of them together.
        var resolver = resolver()
        // Who has sent what stands in the store is not known.
        if found.isOfStore { resolver.rowLead = .unknown("a row") }
        /// Returns an error that names the row for which the request was sent.
        @Sendable func onItem(_ number: Int, _ request: RequestDeclaration, _ error: any Error) -> any Error {
            guard !(error is CancellationError) else { return error }
            let count = found.rows.count
            return RunError(
                error, in: request,
                item: RunError.name(ofItem: number + 1, of: count, found.rows[number], in: declared))
        }
        let requests = try found.rows.enumerated().map { number, row in
            resolver.row = row
            do {
                var request = try resolver.resolve(declared)
                request.allowsEmpty = true
                return request
            } catch {
                throw onItem(number, declared, error)
            }
        }
        beginKeeping(index)
        var total = ParsedBody(tables: Set(environment.registry.tables(of: declared.content)))
        try await withThrowingTaskGroup(of: (Int, Exchange).self) { group in
            var sent = 0
            var places: [ExchangePlace] = []
            var heads: [Int: Exchange] = [:]
            for (number, request) in requests.enumerated() {
                while sent < number + min(requests.count - number, forEach.concurrency),
                    let place = try await active.waiting({
                        try await self.place(for: requests[sent], mayWait: sent == number)
                    })
                {
                    let place = exchangePlace(place, mayWait: forEach.concurrency == 1)
                    places.append(place)
                    active.begin()
                    group.addTask { [sent] in
                        defer { active.end() }
                        do {
                            let head = try await ExchangePlace.$current.withValue(place) {
                                try await self.head(of: requests[sent], index, active)
                            }
                            return (sent, head)
                        } catch {
                            throw onItem(sent, requests[sent], error)
                        }
                    }
                    sent += 1
                }
                while heads[number] == nil, let (other, exchange) = try await active.waiting({ try await group.next() })
                {
                    heads[other] = exchange
                }
                guard let exchange = heads.removeValue(forKey: number) else { throw CancellationError() }
                do {
                    let body = try await ExchangePlace.$current.withValue(places[0]) {
                        try await withinTimeout(of: request, active) {
                            try await self.takePages(exchange, of: request, index)
                        }
                    }
                    total.records += body.records
                    total.tables.formUnion(body.tables)
                } catch {
                    throw onItem(number, request, error)
                }
                places.removeFirst()
            }
        }
        try checkRecords(total.records, of: declared, responses: requests.count)
        results[index].state = newState(index, try fingerprint(declared), total)
        try finish(index, records: total.records)
    }

    /// - Throws: ``StackError`` where none of the responses to a request of many rows held a record.
    func checkRecords(_ records: Int, of declared: RequestDeclaration, responses: Int) throws {
        guard case .mapping = declared.content, records == 0, responses > 0, !declared.allowsEmpty else { return }
        throw StackError(
            .empty,
            "\(declared.url): none of \(responses) responses held a record; mend the mapping, or set "
                + "allow_empty = true if that is meant")
    }

    private func head(of request: RequestDeclaration, _ index: Int, _ active: ActiveTime) async throws -> Exchange {
        try await withinTimeout(of: request, active) {
            try await self.repeating(request, undoing: nil) {
                let exchange = try await self.environment.fetch(request.paging?.firstPage(of: request) ?? request)
                await self.note(exchange, index)
                try await self.refuseUnlessAccepted(exchange, request)
                return exchange
            }
        }
    }
}
