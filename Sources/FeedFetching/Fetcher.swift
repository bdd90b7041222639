package import FeedDeclarations
package import FeedModel

/// Sends a request and returns the head of the response; one implementation a URL scheme.
package protocol Fetcher: Sendable {
    /// - Parameters:
    ///   - validators: what the store holds for the request; empty for an unconditional one.
    ///   - movedTo: where the server has said, often enough, that the request has moved for good.
    /// - Throws: ``FetchError``, or `CancellationError`.
    func fetch(_ request: RequestDeclaration, validators: Validators, movedTo: String?) async throws -> Exchange
}
