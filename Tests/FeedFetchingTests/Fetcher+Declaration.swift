import FeedConfiguration
import FeedFetching
import FeedModel

extension Fetcher {
    /// Prepares a request and sends it.
    ///
    /// - Throws: ``FetchError``, or `CancellationError`.
    func fetch(
        _ request: RequestDeclaration, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange {
        try await fetch(request.prepare(), context, validators: validators, movedTo: movedTo)
    }
}
