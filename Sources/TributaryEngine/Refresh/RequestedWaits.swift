import FeedDeclarations
import FeedFetching
import FeedModel
import Foundation

/// The waits for which servers ask (Retry-After) in the middle of a run, and which the run obeys before it goes on.
struct RequestedWaits: Sendable {
    /// The longest wait, in seconds, and the most of all waits of a run. A run whose server wants more is discarded, and the
    /// next one is due when the server says.
    static let (longest, mostTogether) = (300.0, 900.0)

    private var ends: [Origin: Date] = [:]
    private var together = 0.0

    /// Notes a server's wish.
    ///
    /// - Parameter origin: the origin that was asked.
    /// - Returns: false where the run does not wait that long.
    mutating func note(_ end: Date, at origin: Origin, now: Date) -> Bool {
        let more = end.timeIntervalSince(max(now, ends[origin] ?? now))
        guard end.timeIntervalSince(now) <= Self.longest, together + max(0, more) <= Self.mostTogether else {
            return false
        }
        together += max(0, more)
        ends[origin] = max(end, ends[origin] ?? end)
        return true
    }

    /// Returns when an origin may be asked again; nil where it may be asked now.
    func end(at origin: Origin, now: Date) -> Date? { ends[origin].flatMap { $0 > now ? $0 : nil } }
}

extension Refresh {
    /// Sends a request and returns the head of the response. Where the server asks for a short wait (429 or 503 with
    /// Retry-After), waits and sends it again. That counts neither towards the request's timeout nor as its time.
    ///
    /// - Throws: ``FetchError``; `CancellationError`.
    func fetchObeying(_ request: RequestDeclaration, _ context: ExchangeContext) async throws -> Exchange {
        let clock = environment.clock
        let origin = try request.origin()
        while true {
            while let end = waits.end(at: origin, now: clock.now()) {
                context.progress?.pause(at: clock.uptime)
                defer { context.progress?.resume(at: clock.uptime) }
                try await clock.sleep(until: end)
            }
            let exchange = try await environment.fetch(request, context)
            let now = clock.now()
            guard [429, 503].contains(exchange.response.status),
                let end = RetryAfter.end(of: exchange.response, at: now), waits.note(end, at: origin, now: now)
            else { return exchange }
            if exchange.response.status == 429 {
                environment.busyHosts.leaveAlone(exchange.origin, until: end, now: now)
            }
        }
    }
}
