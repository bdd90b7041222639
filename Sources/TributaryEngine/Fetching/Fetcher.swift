import FeedStore

/// Sends a request and returns the head of the response; one implementation a URL scheme.
protocol Fetcher: Sendable {
    /// - Parameter validators: what the store holds for the request; empty for an unconditional one.
    /// - Throws: ``FetchError``, or `CancellationError`.
    func fetch(_ request: RequestDeclaration, validators: Validators) async throws -> Exchange
}
