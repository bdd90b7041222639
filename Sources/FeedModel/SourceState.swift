public import Foundation

/// What the main store knows of one source: how its last run ended, and when the next is due.
public struct SourceState: Sendable, Equatable {
    public var source: String
    /// Of the last run that sent anything; nil before the first.
    public var outcome: RunOutcome?
    public var lastRun: Date?
    public var lastCommit: Date?
    public var nextDue: Date?
    /// Discarded runs since the last good one.
    public var failures: Int
    /// Why the last run was discarded.
    public var error: String?
    /// What else there is to know: why the source waits, or what has moved.
    public var note: String?
    /// The declaration for which a server answered 410 Gone: until it changes, nothing is sent.
    package var gone: String?
    /// Seconds between the moment at which ``nextDue`` was decided and ``nextDue``. A clock that was wrong then cannot make
    /// the source wait longer than this.
    package var wait: Double?
    /// Until when the server asked to be left alone (Retry-After).
    package var askedUntil: Date?
    /// The declaration for which ``nextDue`` was decided.
    package var declared: String?
    /// How often in a row a process has died during a run of the source; during a run, that one included.
    package var attempts = 0
    /// How often in a row processes may die during a source's runs before it is held.
    package static let deathsUntilHeld = 3
    /// Whether nothing is sent until somebody lets it go.
    package var isHeld: Bool { attempts >= Self.deathsUntilHeld }

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
