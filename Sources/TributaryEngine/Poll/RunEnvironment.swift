import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import Logging

/// The environment that all runs of a service share.
struct RunEnvironment: Sendable {
    var configuration: TributaryConfiguration
    var store: any MainStore
    var registry: ParserRegistry
    var http: HTTPFetcher
    /// Limits the exchanges at each host.
    var hosts: HostGate
    /// Limits the loads that parse or commit at a time.
    var slots: Slots
    /// Limits the runs in progress. Most of them wait for a server.
    var places = Slots(limit: leastPlaces)
    /// Limits the runs that hold many rows in memory (``WorkerContext/limitMemory(unless:)``).
    var room = Slots(limit: 64)
    package var clock: any RunClock
    package var random: any RandomSource = SystemRandom()
    /// Sends messages; nil for the machine's network.
    var network: (any Network)?
    package var threads: any WorkThreads = SystemThreads()
    /// The folder of kept bodies.
    var bodies: BodyFolder { BodyFolder(path: configuration.bodyFolder) }
    var logger: Logger
    var onProgress: @Sendable (RunProgress) -> Void = { _ in }
    /// The runs in progress.
    var activeRuns = ActiveRuns()
    /// The metrics of runs.
    var metrics = EngineMetrics.none
    /// What the start has made for first runs.
    var startAdditions = StartAdditions()
    /// The attempts of this process.
    var attempts = RunAttempts()
    /// The sources that this daemon may run; nil if no other daemon shares the store.
    var ownership: Ownership?
    /// Batches the records of polls; nil to write each at once.
    var recordWindow: RecordWindow?
    /// True to run sources even if they are paused because processes died during their runs.
    var runsPaused = false

    /// True to log the files that stay after their commit. A sync shows the notes of its runs instead.
    var logsRemainingFiles = true

    private static let leastPlaces = 1_024
    /// The responses that wait to be parsed, from which on no run begins.
    static let mostWaitingLoads = 64

    /// The executor of the scheduler, and of runs before they parse a body.
    var executor: EngineExecutor

    /// Runs a short query on the store. A file answers at once; a server may not.
    func queryStore<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        guard store is any SharedStore else { return try body() }
        return try await threads.run(body)
    }

    /// Creates an executor with its own queue, for an actor with blocking work.
    func serialExecutor(_ label: String) -> RunExecutor { RunExecutor(label: "tributary." + label, threads) }

    /// Returns the environment with another configuration.
    func with(_ configuration: TributaryConfiguration) -> RunEnvironment {
        var environment = self
        environment.configuration = configuration
        return environment
    }

    /// Applies the limits of a configuration.
    func setLimits(_ configuration: TributaryConfiguration) {
        slots.setLimit(configuration.concurrency)
        places.setLimit(max(Self.leastPlaces, configuration.concurrency))
        hosts.setRules(configuration.hosts)
    }

    /// Starts the clock of an exchange.
    ///
    /// - Parameters:
    ///   - whole: the clock of the request, for one of several exchanges.
    ///   - waited: returns the time for which the load has waited for a slot.
    func exchangeClock(
        partOf whole: ExchangeClock? = nil, waited: @escaping @Sendable () -> Duration = { .zero }
    ) -> ExchangeClock {
        ExchangeClock(uptime: { [clock] in clock.uptime }, partOf: whole, waited: waited)
    }

    func makeWebhookClient() -> WebhookClient {
        network.map { [clock] in WebhookClient(network: $0) { try await clock.sleep(for: $0) } } ?? WebhookClient()
    }

    func mayRun(_ source: String) -> Bool { ownership?.owns(source) ?? true }

    /// Sends a request with the fetcher of its URL's scheme, and returns the head of the response.
    ///
    /// - Parameters:
    ///   - request: the request to send, with its references resolved.
    ///   - conditions: nil for a request that is not the first one of a declaration.
    /// - Throws: ``FetchError``, or `CancellationError`.
    func fetch(
        _ request: RequestDeclaration, _ context: ExchangeContext, _ conditions: RunState.Conditions? = nil
    ) async throws -> Exchange {
        let prepared = try request.prepare()
        var exchange = try await http.fetcher(for: prepared.target).fetch(
            prepared, context, validators: conditions?.validators ?? Validators(), movedTo: conditions?.movedTo)
        // A new address is not stored if it contains a secret.
        if let movedTo = exchange.movedTo, conditions?.mayMove != true || holdsSecret(movedTo) {
            exchange.movedTo = nil
        }
        exchange.response.isSOAP = request.soap != nil
        // A 304 has no document whose addresses are relative to its own.
        if exchange.response.status != 304 { exchange.response.baseURL = baseURL(of: exchange.response, to: prepared) }
        exchange.response.validators.etag = storable(exchange.response.validators.etag)
        exchange.response.validators.lastModified = storable(exchange.response.validators.lastModified)
        return exchange
    }

    /// Returns the address of a response for the addresses in its document; nil if it contains a secret.
    private func baseURL(of response: FeedResponse, to request: PreparedRequest) -> String? {
        guard let base = response.addressWithoutUser else { return nil }
        guard holdsSecret(base) else { return base }
        // A secret may be a word of the declared address by chance. That of a file in it is no such word.
        let declared = request.address.absoluteString.prefix { $0 != "?" }
        return holdsSecret(String(declared)) && !request.url.template.contains("${file:") ? base : nil
    }

    /// Returns a header's value that may be stored: one without a secret, or a date, which is none.
    ///
    /// - Parameter others: finds further secrets.
    func storable(_ value: String?, without others: Redactor? = nil) -> String? {
        value.flatMap {
            (!holdsSecret($0) && others?.finds(in: $0) != true) || HTTPDate.parse($0) != nil ? $0 : nil
        }
    }

    /// Returns true if a server's text contains a secret, and must not be stored.
    func holdsSecret(_ text: String) -> Bool {
        configuration.redactor.finds(in: text) || http.tokens.redactor.finds(in: text)
    }

    /// Removes secrets from a text.
    func redacted(_ text: String) -> String { http.tokens.redactor.redact(configuration.redactor.redact(text)) }

    /// Prepares a text with parts from servers for display and storage: removes secrets, escapes control characters,
    /// and shortens it to 4,000 characters.
    func shown(_ text: String) -> String {
        let printable = redacted(text).escapedForTerminal(keepsLines: true)
        return printable.utf8.count > 4_000 ? printable.prefix(4_000) + " …" : printable
    }
}
