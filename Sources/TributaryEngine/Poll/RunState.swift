import FeedDeclarations
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import XMLStream

/// One run of one source so far: what the store knew when it began, and what its requests have been answered.
///
/// A value: ``Poll`` changes it while servers answer 304, and ``Refresh`` goes on from there with the first body.
struct RunState: Sendable {
    var source: SourceDeclaration
    let environment: RunEnvironment
    let mode: RefreshMode
    /// True where the last kept bodies are read instead of responses.
    let isReplay: Bool
    let startedAt: Date
    /// The clock's uptime when the run began.
    private let start: Duration
    /// The source's state in the store when the run began.
    var stored: SourceState
    /// The states of the source's requests in the store, by key.
    var known: [String: RequestState]
    /// The feed that was undone, as long as this run has not seen that it differs.
    var undone: UndoneFeed?
    /// The bodies that are read instead of responses, if any are.
    var kept: KeptStack?
    /// What a replay may do; nil where nobody was shown its changes.
    var shown: ShownReplay?
    /// The reason why documents that were accepted cannot be committed any more.
    var unusable: String?
    var results: [RequestResult]
    /// The responses' hints about the time of the next run.
    var hints = PollHints()
    /// The values captured from responses for later requests, by name.
    var captured: [String: String] = [:]
    /// The lines about what the commit has not done, and why.
    var notes: [String] = []
    /// The number of records that the declarations said to drop.
    var skipped = 0
    /// How often something was mended in bodies, by the requests' positions.
    var mended: [Int: XMLRepair.Counts] = [:]
    /// What the documents had that a mapping has read, by the requests' positions.
    var shapes: [Int: DocumentShape] = [:]
    /// How these differ from earlier documents.
    var drift: [Drift] = []
    /// The items of `for_each` that were left out, by the requests' positions.
    var leftOut: [Int: LeftOutItems] = [:]

    init(
        _ source: SourceDeclaration, in environment: RunEnvironment, mode: RefreshMode, isReplay: Bool,
        stored: SourceState, known: [String: RequestState]
    ) {
        self.source = source
        self.environment = environment
        self.mode = mode
        self.isReplay = isReplay
        self.stored = stored
        self.known = known
        startedAt = environment.clock.now()
        start = environment.clock.uptime
        results = source.requests.map { RequestResult(key: $0.key) }
    }

    /// The seconds since the run began.
    var elapsed: @Sendable () -> Double {
        { [start, clock = environment.clock] in (clock.uptime - start).seconds }
    }

    /// Returns the time until which nothing is to be sent; nil if the run goes ahead. A forced run still respects a
    /// server that asked for no requests.
    func wait() -> Date? {
        let busy =
            environment.busyHosts.isEmpty
            ? nil
            : source.requests.compactMap { (request) -> Date? in
                var request = request
                if request.url.isDynamic { request.url = InterpolatedText(request.url.probe) }
                // A host that only a response names is not known yet.
                guard let origin = try? request.origin() else { return nil }
                return environment.busyHosts.end(of: origin, now: startedAt)
            }.max()
        if let busy { return busy }
        guard !mode.ignoresDueTime else { return nil }
        let due = DueTime.start(source, state: stored, now: startedAt)
        return startedAt < due ? due : nil
    }
}

// MARK: - One exchange

extension RunState {
    /// The number of times that a permanent redirect is followed before its target is asked at once.
    private static let movesBelieved = 3

    /// What a request is sent with, from what is known of its last response.
    struct Conditions: Sendable {
        let fingerprint: String
        /// What is known of the last response; nil where the request was declared otherwise then.
        let stored: RequestState?
        let isConditional: Bool
        /// The address that is asked instead of the declared one, which has moved for good.
        let movedTo: String?

        var validators: Validators { isConditional ? stored?.validators ?? Validators() : Validators() }
        /// The digest of the last body; nil where the same body is to be parsed again.
        var digest: String? { isConditional ? stored?.digest : nil }
    }

    /// - Parameter isConditional: false where the body is wanted, changed or not.
    func conditions(of index: Int, isConditional: Bool) throws -> Conditions {
        let request = source.requests[index]
        let fingerprint = try fingerprint(request)
        let former = known[request.key]
        let stored =
            undone.map { $0.state(of: request.key, former, fingerprint: fingerprint) }
            ?? former.flatMap { $0.fingerprint == fingerprint ? $0 : nil }
        let movedTo =
            request.references.isEmpty
            ? former.flatMap { $0.movedTimes >= Self.movesBelieved ? $0.movedTo : nil } : nil
        return Conditions(
            fingerprint: fingerprint, stored: stored, isConditional: isConditional && !request.isUnconditional,
            movedTo: movedTo)
    }

    func fingerprint(_ request: RequestDeclaration) throws -> String {
        request.validity(
            parserVersion: try BodyParserFactory(request: request, environment: environment).version(),
            encryptionKey: environment.configuration.encryptionKey)
    }

    /// Takes a response's head into account, whatever becomes of its body.
    mutating func note(_ exchange: Exchange, _ index: Int) {
        results[index].report.status = exchange.response.status
        let now = environment.clock.now()
        hints.note(exchange.response, origin: exchange.origin, at: now)
        if hints.busyOrigin == exchange.origin, exchange.response.status == 429, let until = hints.retryAt {
            environment.busyHosts.leaveAlone(exchange.origin, until: until, now: now)
        }
    }

    /// Takes a 304 as the answer to a conditional request: the rows in the store stand.
    mutating func noteUnchanged(_ exchange: Exchange, _ index: Int, _ conditions: Conditions) {
        results[index].report.outcome = .unchanged
        guard undone == nil else { return }
        results[index].state = conditions.stored?.updated(by: exchange.response.validators)
        results[index].state?.note(movedTo: exchange.movedTo, former: conditions.movedTo)
    }
}

extension RunEnvironment {
    /// Sends a request, and returns the head of the response.
    ///
    /// - Parameters:
    ///   - declared: the request as it is declared.
    ///   - request: the request as it is sent: with its references resolved, for its first page.
    /// - Throws: ``FetchError``; `CancellationError`.
    func send(
        _ request: RequestDeclaration, declared: RequestDeclaration, _ conditions: RunState.Conditions,
        _ context: ExchangeContext
    ) async throws -> Exchange {
        var exchange = try await fetch(
            request, context, validators: conditions.validators, movedTo: conditions.movedTo)
        // A new address is not kept if it contains a secret, or if the request has references: their values may differ
        // next time.
        if let movedTo = exchange.movedTo, !declared.references.isEmpty || holdsSecret(movedTo) {
            exchange.movedTo = nil
        }
        return exchange
    }
}
