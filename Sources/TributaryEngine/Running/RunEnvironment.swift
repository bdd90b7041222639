import FeedStore
import Foundation
import Logging

/// What every run of a service shares.
struct RunEnvironment: Sendable {
    var configuration: TributaryConfiguration
    var store: MainStore
    var registry: ParserRegistry
    var http: HTTPFetcher
    var hosts: HostLimiter
    var busyHosts: BusyHosts
    var clock: any RunClock
    var logger: Logger
    var onProgress: @Sendable (RunProgress) -> Void = { _ in }

    /// Sends a request, to whatever its URL's scheme asks.
    ///
    /// - Throws: ``FetchError``, or `CancellationError`.
    func fetch(
        _ request: RequestDeclaration, validators: Validators = Validators(), movedTo: String? = nil
    ) async throws -> Exchange {
        let isFile = request.url.value.lowercased().hasPrefix("file:")
        let fetcher: any Fetcher = isFile ? FileFetcher(now: { clock.now() }) : http
        var exchange = try await fetcher.fetch(request, validators: validators, movedTo: movedTo)
        exchange.response.isSOAP = request.soap != nil
        return exchange
    }
}
