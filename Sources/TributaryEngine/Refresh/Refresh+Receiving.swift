import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStaging
import FeedStores
import Foundation
import Metrics

/// Receives bodies, and resumes interrupted transfers.
extension Refresh {
    /// Receives a body. Resumes an interrupted transfer if possible.
    ///
    /// - Parameter take: consumes a piece of the body, and returns the number of bytes received so far.
    func receive(
        _ exchange: Exchange, of request: RequestDeclaration, _ index: Int, _ clock: ExchangeClock?,
        _ take: (UnsafeRawBufferPointer) throws -> Int
    ) async throws {
        clock?.hasReceived(0)
        // A kept body is not received from a server.
        let counter = run.kept == nil ? environment.metrics.received(of: run.source.name) : nil
        var received = 0
        var part = exchange
        var size: Int?
        while true {
            let before = received
            do {
                try await part.forEachPiece { piece in
                    clock?.hasReceived(received + piece.count)
                    counter?.increment(by: piece.count)
                    received = try take(piece)
                    reportProgress(index, exchange, received: received)
                }
                guard let size, received != size else { return }
                throw FetchError(.truncated, "\(request.url): \(received) bytes came, and the server said \(size)")
            } catch {
                let failure = FetchError.reading(error, request: request, clock)
                guard run.kept == nil, let rest = BodyRest(of: exchange, to: request, after: received) else {
                    throw failure
                }
                if received > before { repetitions.noteProgress() }
                (part, size) = try await resume(rest, of: request, index, after: failure, clock)
            }
        }
    }

    /// Requests the rest of a body, up to the declared number of repetitions.
    ///
    /// - Returns: the response with the rest, and the size of the whole body.
    /// - Throws: `failure` after the last repetition; ``FetchError``; `CancellationError`.
    private func resume(
        _ rest: BodyRest, of request: RequestDeclaration, _ index: Int, after failure: any Error,
        _ clock: ExchangeClock?
    ) async throws -> (Exchange, Int) {
        var failure = failure
        while try await mayRepeat(after: failure) {
            let exchange: Exchange
            do {
                exchange = try await fetchObeying(rest.request(request), ExchangeContext(nil, clock))
            } catch {
                failure = error
                continue
            }
            noteProvenance(exchange)
            let status = exchange.response.status
            if [500, 502, 504].contains(status) {
                let refusal = StackDecision.refusal(status, of: request)
                failure = FetchError(.overloaded, "\(request.method) \(request.url): \(refusal)")
                continue
            }
            if RetryAfter.statuses.contains(status) {
                note(exchange, index)
                try await refuseUnlessAccepted(exchange, request)
            }
            return (exchange, try rest.check(exchange))
        }
        throw failure
    }

    func reportProgress(_ index: Int, _ exchange: Exchange, received: Int) {
        environment.onProgress(
            RunProgress(
                source: run.source.name, request: run.source.requests[index].key, requestNumber: index + 1,
                requestCount: run.source.requests.count, bytes: received, totalBytes: exchange.announcedBytes,
                rows: context?.insertedRows ?? 0))
    }
}
