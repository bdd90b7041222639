public import Foundation

/// The main store's record of one source: the result of its last run, and the time of the next.
public struct SourceState: Sendable, Equatable {
    public var source: String
    /// The outcome of the last run that sent anything; nil before the first.
    public var outcome: RunOutcome?
    public var lastRun: Date?
    public var lastCommit: Date?
    public var nextDue: Date?
    /// Discarded runs since the last good one.
    public var failures: Int
    /// The reason why the last run was discarded.
    public var error: String?
    /// Further information: a moved address, a feed that is gone, or the end of an answer's freshness.
    public var note: String?
    /// The fingerprint of the declaration for which a server answered 410 Gone. Until it changes, nothing is sent.
    package var gone: String?
    /// Seconds from the decision about ``nextDue`` until ``nextDue``. The source waits no longer than this, even if the
    /// clock was wrong at the decision.
    package var wait: Double?
    /// When ``nextDue`` was decided: at the beginning of a run, and again at its end; nil if that is not known.
    package var decidedAt: Date? {
        guard let nextDue, nextDue != .distantFuture, let wait else { return nil }
        return nextDue - wait
    }
    /// Returns true if ``nextDue`` was decided by a clock that is ahead of this one by over a second.
    package func wasDecided(aheadOf now: Date) -> Bool {
        [decidedAt, lastRun].contains { $0.map { $0.timeIntervalSince(now) > 1 } ?? false }
    }
    /// The end of the server's `Retry-After`.
    package var askedUntil: Date?
    /// The identity of the declaration for which ``nextDue`` was decided.
    package var declared: String?
    /// The origin of the first request of the last run: scheme, name and port. The source may be declared no longer.
    package var origin: String?
    /// The requests' versions when the source was undone, as JSON. Until the feed differs from them, its rows are not
    /// committed. Nil if the source was not undone.
    package var undone: String?
    /// The number of times in a row that a process has died during a run of the source. A run that is in progress
    /// counts too.
    package var attempts = 0
    /// The number of such deaths in a row at which a source is paused.
    package static let deathsUntilPaused = 3
    /// When an operator paused the source; nil if it is not paused so. Runs leave it unchanged.
    package var pausedAt: Date?
    /// True if nothing is sent until the source is resumed.
    package var isStopped: Bool { attempts >= Self.deathsUntilPaused || pausedAt != nil }
    /// True if the source waits for `resume`: it is stopped, or its rows were brought back.
    package var isPaused: Bool { isStopped || undone != nil }
    /// True if a run is blocked, and waits to be accepted. Runs that fail later leave it so.
    public var isBlocked = false
    /// The start of the first of the consecutive failed runs; nil if the last run was good.
    public var failingSince: Date?
    /// When the last run ended that asked the servers and was committed or unchanged; nil before the first.
    public var lastGood: Date?
    /// The time from which ``lastGood`` is missed: without a good run, when the first failure began.
    package var freshFrom: Date? { lastGood ?? failingSince }

    public init(
        source: String, outcome: RunOutcome? = nil, lastRun: Date? = nil, lastCommit: Date? = nil,
        nextDue: Date? = nil, failures: Int = 0, error: String? = nil, note: String? = nil
    ) {
        self.note = note
        self.source = source
        self.outcome = outcome
        self.lastRun = lastRun
        self.lastCommit = lastCommit
        self.nextDue = nextDue
        self.failures = failures
        self.error = error
    }
}
