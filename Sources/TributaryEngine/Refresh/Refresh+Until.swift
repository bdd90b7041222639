import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import Foundation

/// Repeats a request until its response has a value (``UntilDeclaration``).
///
/// Each exchange has its own permit at the host, timeout and repetitions. Between two of them, the run holds neither a
/// permit nor a slot.
extension Refresh {
    private struct Answer: Sendable {
        /// The response with one of the awaited values; nil for others, whose connections are free.
        var exchange: Exchange?
        let origin: Origin
        /// The value at the path; nil without one.
        var value: String?
        /// The pause that the server requests.
        var pause: Duration
    }

    /// Sends a request until its response has one of the values that end the repetition. Notes that response, and puts
    /// its body into ``awaited``.
    ///
    /// - Throws: ``StackError`` for a value that discards the run; ``FetchError`` after the time limit; the errors of an
    ///   exchange; `CancellationError`.
    func awaitResponse(
        to request: RequestDeclaration, _ until: UntilDeclaration, _ index: Int, _ conditions: RunState.Conditions
    ) async throws -> Exchange {
        let (clock, hosts, subject) = (environment.clock, environment.hosts, "\(request.method) \(request.url)")
        let seen = Mutex<String?>(nil)
        let note = DueTime.waitNote(on: request.key, until, since: clock.now())
        return try await withTimeLimit(
            until.limit, by: clock,
            timeout: FetchError(
                .timeout, "\(subject): \(until.lateness(last: seen.withLock(\.self))); raise until.within")
        ) {
            var isNoted = false
            while true {
                let answer = try await self.answer(to: request, until, index, conditions)
                if let exchange = answer.exchange {
                    if isNoted { try await self.endWait() }
                    return exchange
                }
                if let value = answer.value {
                    seen.withLock { $0 = value }
                    guard !until.failures.contains(value) else {
                        throw StackError(
                            "\(subject): '\(until.written)' is '\(value.shortened(to: 100))', a value of until.fails")
                    }
                }
                try await self.withdrawAttempt(noting: isNoted ? nil : note)
                isNoted = true
                var rest = max(until.pause, answer.pause)
                while rest > .zero {
                    try await clock.sleep(for: rest)
                    // The server may have requested a pause of another run meanwhile.
                    rest = hosts.pause(of: answer.origin) ?? .zero
                }
            }
        }
    }

    private func answer(
        to request: RequestDeclaration, _ until: UntilDeclaration, _ index: Int, _ conditions: RunState.Conditions
    ) async throws -> Answer {
        let clock = exchangeClock()
        defer { run.results[index].report.seconds += clock.spent.seconds }
        let permit = try await clock.pausing { try await permits.permit(at: request.origin()) }
        defer { permit.release() }
        repetitions = Repetitions(of: request)
        return try await clock.limiting(request, by: environment.clock) {
            while true {
                do {
                    return try await self.answerOnce(
                        to: request, until, index, conditions, ExchangeContext(permit, clock))
                } catch {
                    guard try await self.mayRepeat(after: error) else { throw error }
                }
            }
        }
    }

    private func answerOnce(
        to request: RequestDeclaration, _ until: UntilDeclaration, _ index: Int, _ conditions: RunState.Conditions,
        _ context: ExchangeContext
    ) async throws -> Answer {
        let exchange = try await environment.fetch(request, context, conditions)
        let response = exchange.response
        let now = environment.clock.now()
        let end = RetryAfter.end(of: response, at: now)
        var answer = Answer(
            origin: exchange.origin, pause: end.map { .seconds($0.timeIntervalSince(now)) } ?? .zero)
        if end != nil, RetryAfter.statuses.contains(response.status) { return answer }
        guard request.acceptStatus.contains(response.status) else {
            note(exchange, index)
            try await refuseUnlessAccepted(exchange, request)
            return answer
        }
        let body = try await receiveWhole(exchange, of: request, index, context.clock).body
        let capture = CaptureHandler([until.path])
        // A response that only says "not yet" may be empty.
        if body.count > 0 { try parse(body, of: exchange, request, [capture]) }
        answer.value = capture.values[0]
        if let value = answer.value, until.failures.contains(value) { note(exchange, index) }
        if let value = answer.value, until.values.contains(value) {
            note(exchange, index)
            awaited = body
            answer.exchange = exchange
        }
        return answer
    }
}

extension UntilDeclaration {
    /// Returns the error after the time limit, without what to do.
    ///
    /// - Parameter value: the value of the last response that had one.
    fileprivate func lateness(last value: String?) -> String {
        let expected = values.map { "'\($0)'" }.joined(separator: " or ")
        let found = value.map { "it was last '\($0.shortened(to: 100))'" } ?? "no response had a value there"
        return "'\(written)' was not \(expected) within \(limit.roughText); \(found)"
    }
}
