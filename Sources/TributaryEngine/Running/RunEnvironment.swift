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

    func fetcher(for request: RequestDeclaration) -> any Fetcher {
        request.url.value.lowercased().hasPrefix("file:") ? FileFetcher(now: { clock.now() }) : http
    }
}
