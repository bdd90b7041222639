import FeedStore
import Foundation
import Logging

/// What every run of a service shares.
struct RunEnvironment: Sendable {
    var configuration: TributaryConfiguration
    var store: MainStore
    var registry: ParserRegistry
    var http: HTTPFetcher
    /// Requests at the same time to one host, by origin.
    var hosts: HostLimiter
    /// Runs at the same time, under ``RunPermit/slotKey``.
    var slots: HostLimiter
    /// Runs that have begun and wait for a host without a slot. Each may hold rows in memory, so that they must not be any
    /// number; whoever finds no place here waits with its slot.
    var absences = HostLimiter(limit: 64)
    var busyHosts: BusyHosts
    var clock: any RunClock
    var logger: Logger
    var onProgress: @Sendable (RunProgress) -> Void = { _ in }
    /// The attempts that this process has begun.
    var attempts = RunAttempts()
    /// Whether a source that is held because processes died during its runs is run all the same.
    var runsHeld = false

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
