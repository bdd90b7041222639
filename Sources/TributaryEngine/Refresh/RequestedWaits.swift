import FeedConfiguration
import FeedFetching
import FeedModel
import Foundation

/// The waits that servers request (Retry-After) during a run. The run honours short ones and continues.
struct RequestedWaits: Sendable {
    /// The longest wait, and the longest total of all waits of a run, in seconds. A longer wait discards the run, and
    /// the next run is due at its end.
    static let (longest, mostTogether) = (HostGate.longestPause.seconds, 900.0)

    private var ends: [Origin: Date] = [:]
    private var together = 0.0

    /// Notes the wait of an origin.
    ///
    /// - Parameter origin: the origin of the request.
    /// - Returns: false if the wait is too long.
    mutating func note(_ end: Date, at origin: Origin, now: Date) -> Bool {
        let more = end.timeIntervalSince(max(now, ends[origin] ?? now))
        guard end.timeIntervalSince(now) <= Self.longest, together + max(0, more) <= Self.mostTogether else {
            return false
        }
        together += max(0, more)
        ends[origin] = max(end, ends[origin] ?? end)
        return true
    }
}

extension Refresh {
    /// Sends a request and returns the head of the response. If the server requests a short wait (429 or 503 with
    /// Retry-After), sends it again. Each request waits until its host is open (``HostGate/waitUntilOpen(_:_:)``).
    ///
    /// - Throws: ``FetchError``; `CancellationError`.
    func fetchObeying(_ request: RequestDeclaration, _ context: ExchangeContext) async throws -> Exchange {
        while true {
            let exchange = try await environment.fetch(request, context)
            let now = environment.clock.now()
            guard RetryAfter.statuses.contains(exchange.response.status),
                let end = RetryAfter.end(of: exchange.response, at: now),
                waits.note(end, at: exchange.origin, now: now)
            else { return exchange }
        }
    }
}
