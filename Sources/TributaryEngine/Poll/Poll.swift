import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStores

/// Sends the conditional requests of a source in the order of its stack, as long as the answers are 304 Not Modified.
/// Neither parses nor writes.
struct Poll {
    /// The first response with a body, and the clock of its exchange.
    final class Found: Sendable {
        let index: Int
        /// The permit at the host, which the response holds until its body is read.
        let permit: HostPermit
        /// Stopped since the response's head arrived.
        let clock: ExchangeClock
        let repetitions: Repetitions
        private let exchange: Mutex<Exchange?>

        fileprivate init(
            _ index: Int, _ exchange: Exchange, at permit: HostPermit, _ clock: ExchangeClock,
            _ repetitions: Repetitions
        ) {
            self.index = index
            self.exchange = Mutex(exchange)
            self.permit = permit
            self.clock = clock
            self.repetitions = repetitions
            clock.pause()
        }

        /// Returns the response, once. Its reader frees its connection.
        func takeExchange() -> Exchange? {
            exchange.withLock { exchange in
                defer { exchange = nil }
                return exchange
            }
        }

        /// Discards an unread response.
        func abandon() {
            _ = takeExchange()
            permit.release()
        }
    }

    let environment: RunEnvironment
    let permits: RunPermits

    /// Returns true if answers of 304 to all requests end a run: no rows expire, no bodies are kept, and no accepted
    /// documents wait.
    static func mayEnd(_ run: RunState) -> Bool {
        // By their positions, because iteration copies each declaration.
        let requests = run.source.requests
        return !run.isReplay && run.kept == nil && run.undone == nil && !run.stored.isBlocked
            && !run.mode.ignoresValidators && !run.hasBodies
            && requests.indices.allSatisfy { requests[$0].forEach == nil && requests[$0].content != .captures }
            && (!requests.indices.contains { requests[$0].retainsRows } || run.retention.expiries.isEmpty)
    }

    /// Sends the requests of a run in order, as long as they have validators and the answers are 304.
    ///
    /// - Parameter run: receives the results.
    /// - Returns: the first response that is not a 304; nil if there is none, or if the next request has no validators.
    /// - Throws: the error that discards the run; `CancellationError`.
    func send(_ run: inout RunState) async throws -> Found? {
        for index in run.source.requests.indices {
            let request = run.source.requests[index]
            guard !request.isUnconditional else { return nil }
            let conditions = try run.conditions(of: request, isConditional: true)
            guard !conditions.validators.isEmpty else { return nil }
            if let answer = run.archives.unchanged(index, conditions.validators) {
                run.noteUnchanged(answer, index, conditions)
                continue
            }
            if let found = try await send(request, index, conditions, &run) { return found }
        }
        return nil
    }

    private func send(
        _ request: RequestDeclaration, _ index: Int, _ conditions: RunState.Conditions, _ run: inout RunState
    ) async throws -> Found? {
        let clock = environment.exchangeClock()
        do {
            try Task.checkCancellation()
            // The wait for a permit does not count towards the request's timeout or time.
            let permit = try await clock.pausing { try await permits.permit(at: request.origin()) }
            var isFound = false
            defer { if !isFound { permit.release() } }
            if let movedTo = conditions.movedTo { run.hints.moved[request.key] = movedTo }
            let (exchange, repetitions) = try await clock.limiting(request, by: environment.clock) {
                try await environment.repeating(request) {
                    try await environment.fetch(request, ExchangeContext(permit, clock), conditions)
                }
            }
            run.note(exchange, index)
            guard exchange.response.status == 304 else {
                isFound = true
                return Found(index, exchange, at: permit, clock, repetitions)
            }
            run.noteUnchanged(exchange, index, conditions)
            run.results[index].report.seconds += clock.spent.seconds
            return nil
        } catch {
            run.results[index].report.seconds += clock.spent.seconds
            run.results[index].report.outcome = .failed
            if Task.isCancelled { throw CancellationError() }
            throw RunError(error, in: request)
        }
    }
}
