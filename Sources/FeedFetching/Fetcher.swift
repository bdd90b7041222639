package import FeedDeclarations
package import FeedModel

/// Sends a request and returns the head of the response. Each URL scheme has its own implementation.
package protocol Fetcher: Sendable {
    /// - Parameters:
    ///   - context: the permit and the progress of the exchange.
    ///   - validators: the stored validators of the request; empty for an unconditional request.
    ///   - movedTo: the request's new address, once the server has reported the permanent move often enough.
    /// - Throws: ``FetchError``, or `CancellationError`.
    func fetch(
        _ request: PreparedRequest, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange
}

extension Fetcher {
    /// Prepares a request and sends it.
    ///
    /// - Throws: ``FetchError``, or `CancellationError`.
    package func fetch(
        _ request: RequestDeclaration, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange {
        try await fetch(request.prepare(), context, validators: validators, movedTo: movedTo)
    }
}
