import FeedDeclarations
import FeedFetching
import FeedModel
import FeedParsing
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
    /// Runs that have begun and wait without a slot: for a host, or for what it sends. Each may hold rows in memory, so that they must not be any
    /// number; whoever finds no place here waits with its slot.
    var absences = HostLimiter(limit: 64)
    var busyHosts: BusyHosts
    package var clock: any RunClock
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
        exchange.response.baseURL = exchange.response.addressWithoutUser.flatMap { holdsSecret($0) ? nil : $0 }
        // Validators are stored.
        if let etag = exchange.response.validators.etag, holdsSecret(etag) { exchange.response.validators.etag = nil }
        if let modified = exchange.response.validators.lastModified, holdsSecret(modified) {
            exchange.response.validators.lastModified = nil
        }
        return exchange
    }

    /// Whether a text of a server must not be kept.
    func holdsSecret(_ text: String) -> Bool {
        configuration.redactor.finds(in: text) || http.tokens.redactor.finds(in: text)
    }

    /// A text in which others had a hand, fit to be shown and stored: without secrets, then without control characters,
    /// then no longer than 4,000 characters.
    func shown(_ text: String) -> String {
        let redacted = http.tokens.redactor.redact(configuration.redactor.redact(text))
        let isControl: (Unicode.Scalar) -> Bool = { scalar in
            scalar.value < 0x20 && scalar != "\n" || (0x7F...0x9F).contains(scalar.value)
        }
        var printable = redacted
        if redacted.unicodeScalars.contains(where: isControl) {
            let scalars = redacted.unicodeScalars.map { isControl($0) ? "\u{FFFD}" : $0 }
            printable = String(String.UnicodeScalarView(scalars))
        }
        return printable.utf8.count > 4_000 ? printable.prefix(4_000) + " …" : printable
    }
}
