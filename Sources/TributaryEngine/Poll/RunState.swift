import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import Logging
import XMLStream

/// The state of one run of one source: the stored states at its start, and the answers to its requests.
///
/// A value: ``Poll`` changes it while servers answer 304, and ``Refresh`` continues with the first body.
struct RunState: Sendable {
    var source: SourceDeclaration
    let environment: RunEnvironment
    let mode: RefreshMode
    /// nil for a run that reads responses.
    let replay: Replay?
    let startedAt: Date
    /// The clock's uptime when the run began.
    private let start: Duration
    /// The source's state in the store when the run began.
    var stored: SourceState
    /// The states of the source's requests in the store, by key.
    var known: [String: RequestState]
    /// The undone feed, until this run finds that the feed differs.
    var undone: UndoneFeed?
    /// The bodies that are read instead of responses; nil for none.
    var kept: KeptStack?
    /// The uptime before the run looked at the tables of its last commit.
    var lookedAt: Duration?
    /// The reason why accepted documents cannot be committed any more.
    var unusable: String?
    /// The tables and columns that were made for the run.
    let additions = AdditionLog()
    var results: [RequestResult]
    var archives: SharedArchives
    /// The responses' hints about the time of the next run.
    var hints = PollHints()
    /// The values captured from responses for later requests, by name.
    var captured: [String: String] = [:]
    /// Notes on rows that the commit left out, with reasons.
    var notes: [String] = []
    /// The number of records that were left out.
    var skipped = 0
    /// Those of them that were left out because of an error.
    var rejected = 0
    /// Their number with the first reasons; nil without one.
    var rejection: String?
    /// The differences of the documents' shapes from those of earlier ones.
    var drift: [Drift] = []

    init(
        _ source: SourceDeclaration, in environment: RunEnvironment, mode: RefreshMode, replay: Replay?,
        stored: SourceState, known: [String: RequestState]
    ) {
        self.source = source
        self.environment = environment
        self.mode = mode
        self.replay = replay
        self.stored = stored
        self.known = known
        startedAt = environment.clock.now()
        start = environment.clock.uptime
        results = source.requests.map { RequestResult(key: $0.key) }
        archives = SharedArchives(source.requests)
    }

    var isReplay: Bool { replay != nil }

    /// The seconds since the run began.
    var elapsed: @Sendable () -> Double {
        { [start, clock = environment.clock] in (clock.uptime - start).seconds }
    }

    /// Returns the time before which no request may be sent; nil to start at once. A forced run still honours waits
    /// that a server requested.
    func wait() -> Date? {
        if let end = pauseEnd { return end }
        guard !mode.ignoresDueTime, !environment.attempts.hasUnrecordedFailure(source.name) else { return nil }
        let due = DueTime.start(source, state: stored, now: startedAt)
        return startedAt < due ? due : nil
    }

    /// The end of the pauses that servers of the source have requested; nil without one.
    var pauseEnd: Date? {
        guard environment.hosts.hasPauses else { return nil }
        return source.knownOrigins.compactMap(environment.hosts.pause).max().map {
            environment.clock.now() + $0.seconds
        }
    }
}

// MARK: - One exchange

extension RunState {
    /// The number of permanent redirects after which requests go to their target directly.
    private static let movesBelieved = 3

    /// The conditions of a request, from the state of its last response.
    struct Conditions: Sendable {
        let fingerprint: String
        /// The state of the last response; nil if the declaration has changed since.
        let stored: RequestState?
        let isConditional: Bool
        /// False for a request with references. Their values may change, and with them its address.
        let mayMove: Bool
        /// The address of a permanent redirect; nil for the declared one.
        let movedTo: String?

        var validators: Validators { isConditional ? stored?.validators ?? Validators() : Validators() }
        /// The digest of the last body; nil to parse an equal body again.
        var digest: String? { isConditional ? stored?.digest : nil }
    }

    /// - Parameter isConditional: false to fetch the body even if unchanged.
    func conditions(of request: RequestDeclaration, isConditional: Bool) throws -> Conditions {
        let fingerprint = try fingerprint(request)
        let former = known[request.key]
        let stored =
            undone.map { $0.state(of: request.key, former, fingerprint: fingerprint) }
            ?? former.flatMap { $0.fingerprint == fingerprint ? $0 : nil }
        let mayMove = request.references.isEmpty
        return Conditions(
            fingerprint: fingerprint, stored: stored, isConditional: isConditional && !request.isUnconditional,
            mayMove: mayMove,
            movedTo: mayMove ? former.flatMap { $0.movedTimes >= Self.movesBelieved ? $0.movedTo : nil } : nil)
    }

    func fingerprint(_ request: RequestDeclaration) throws -> String {
        request.validity(
            parserVersion: try environment.registry.version(of: request.content),
            encryptionKey: environment.configuration.encryptionKey)
    }

    /// Notes a response's head.
    mutating func note(_ exchange: Exchange, _ index: Int) {
        results[index].report.status = exchange.response.status
        results[index].files = exchange.files
        results[index].files?.origin = exchange.origin
        hints.note(exchange.response, origin: exchange.origin, at: environment.clock.now())
    }

    /// Notes that an earlier run has deleted or moved all files of a request: the rows in the store stay.
    mutating func noteNoFile(_ index: Int, _ conditions: Conditions) {
        results[index].report.status = 304
        results[index].report.outcome = .unchanged
        if undone == nil { results[index].state = conditions.stored }
    }

    /// Notes a 304 to a conditional request: the rows in the store stay.
    mutating func noteUnchanged(_ exchange: Exchange, _ index: Int, _ conditions: Conditions) {
        let answer = SharedArchives.Unchanged(
            conditions: conditions.validators, validators: exchange.response.validators, movedTo: exchange.movedTo)
        archives.note(answer, index)
        noteUnchanged(answer, index, conditions)
    }

    /// - Parameter answer: the 304 to this request, or to an equal one.
    mutating func noteUnchanged(_ answer: SharedArchives.Unchanged, _ index: Int, _ conditions: Conditions) {
        results[index].report.status = 304
        results[index].report.outcome = .unchanged
        guard undone == nil else { return }
        results[index].state = conditions.stored?.updated(by: answer.validators)
        results[index].state?.note(movedTo: answer.movedTo, former: conditions.movedTo)
    }
}

extension SourceDeclaration {
    /// The server that a run asks first, as the store keeps it; nil if it asks none, or if only a response names it.
    var askedOrigin: String? { firstOrigin.flatMap { $0.isFile ? nil : $0.description } }

    /// The origins of the requests, and of the servers that issue their tokens, as far as no response names them.
    var knownOrigins: [Origin] { requests.flatMap { [$0.knownOrigin, $0.tokenOrigin].compactMap(\.self) } }
}

extension RequestDeclaration {
    /// The origin of the request; nil if a response names it.
    fileprivate var knownOrigin: Origin? {
        var request = self
        if url.isDynamic { request.url = InterpolatedText(url.probe) }
        return try? request.origin()
    }

    /// The origin of the server that issues the request's tokens; nil without one.
    fileprivate var tokenOrigin: Origin? {
        guard case .oauth2(let client) = authentication else { return nil }
        return try? WebAddress(client.tokenURL.value).url.origin
    }
}

/// The tables and columns that were made for a run before its commit.
final class AdditionLog: Sendable {
    private let additions = Mutex<[SchemaAddition]>([])

    var all: [SchemaAddition] { additions.withLock { $0 } }

    func note(_ made: [SchemaAddition]) { additions.withLock { $0 += made } }
}

/// The tables and columns that a start has made for the sources' first runs, by the names of the sources.
final class StartAdditions: Sendable {
    private let additions: Mutex<[String: [SchemaAddition]]>

    init(_ additions: [String: [SchemaAddition]] = [:]) { self.additions = Mutex(additions) }

    /// Removes and returns the additions of a source.
    func take(of source: String) -> [SchemaAddition] { additions.withLock { $0.removeValue(forKey: source) } ?? [] }
}

extension RunState {
    /// Removes the tables and columns that were made for the run, because it commits nothing. Those that a run of
    /// another source may use by now stay. Blocks its thread.
    func removeAdditions() {
        let made = additions.all
        guard !made.isEmpty else { return }
        let tables = Set(made.map { $0.table.lowercased() })
        var claims: [any SourceClaim] = []
        defer { for claim in claims { claim.unlock() } }
        do {
            for other in environment.configuration.sources where other.name != source.name {
                let written = other.requests.flatMap { environment.registry.tables(of: $0.content) }
                guard written.contains(where: { tables.contains($0.lowercased()) }) else { continue }
                guard let claim = try environment.store.claim(other.name) else { return }
                claims.append(claim)
            }
            try environment.store.remove(made)
        } catch {
            environment.logger.warning(
                "The tables that a run has made cannot be removed again",
                metadata: ["source": "\(source.name)", "error": "\(shown(error))"])
        }
    }
}
