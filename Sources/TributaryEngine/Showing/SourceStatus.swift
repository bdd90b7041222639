package import FeedConfiguration
package import FeedModel
package import FeedStores
import Foundation

/// The state of a source: an element of `sources` of `status --json`.
package struct SourceStatus: Sendable, Encodable {
    /// nil for a source that is only in the store.
    package let declaration: SourceDeclaration?
    package let state: SourceState
    /// The daemon that owns the source, and the one that is running it, on a shared store.
    package let daemon: String?
    package let runner: String?
    /// The reason why it sends no request; nil if it waits for its ordinary interval.
    package let wait: SourceWait?
    /// True while a run is in progress, in any process.
    package let isRunning: Bool
    /// True if no run has succeeded within `fresh_within`.
    package let isStale: Bool
    /// The permission to exceed its limits that no run has used yet.
    package let acceptance: Acceptance?
    private let isShared: Bool

    /// - Parameters:
    ///   - acceptance: the valid permission. It becomes part of the state's note, in place of the advice to accept.
    ///   - wait: the wait that decides when it is due. It becomes part of the state's note and due time.
    ///   - now: the time for which staleness is decided.
    init(
        _ declaration: SourceDeclaration?, _ state: SourceState, _ wait: SourceWait?, _ acceptance: Acceptance?,
        isRunning: Bool, among daemons: SharedDaemons?, now: Date
    ) {
        self.declaration = declaration
        self.wait = wait
        self.isRunning = isRunning
        // A permission for a blocked run means nothing once the run is over.
        self.acceptance = acceptance.flatMap { $0.run == nil || state.isBlocked ? $0 : nil }
        var state = state
        if !isRunning, state.note.map(DueTime.isWaitNote) == true { state.note = nil }
        state = self.acceptance.map(state.noted) ?? state
        if let wait {
            state.note = [state.note, wait.text].compactMap(\.self).joined(separator: "; ")
            state.nextDue = wait.until ?? state.nextDue
        } else if let reason = state.reasonOfStop, state.note?.hasPrefix("paused") != true {
            state.note = [reason, state.note].compactMap(\.self).joined(separator: "; ")
        }
        daemon = daemons?.owner(of: state.source)
        runner = daemons?.runner(of: state.source)
        isShared = daemons != nil
        let seconds = declaration.flatMap { $0.isEnabled ? $0.freshWithin?.seconds : nil }
        isStale = seconds.map { state.isStale(after: $0, now: now) } ?? false
        self.state = isStale ? state.notedAsStale : state
    }

    package func encode(to encoder: any Encoder) throws {
        let accepted = acceptance.map { ["run": $0.run.orNull, "until": $0.until] as JSONObject }
        var object: JSONObject = [
            "source": state.source, "state": condition.rawValue, "outcome": state.outcome.orNull,
            "last_run": state.lastRun.orNull, "last_commit": state.lastCommit.orNull, "next_due": state.nextDue.orNull,
            "failures": state.failures, "error": state.error.orNull, "note": state.note.orNull, "wait": wait.orNull,
            "declared": declaration == nil ? false : nil, "failing_since": state.failingSince.orNull,
            "last_good": state.lastGood.orNull, "stale": isStale, "running": isRunning, "accepted": accepted.orNull,
        ]
        if isShared { (object["daemon"], object["runner"]) = (daemon.orNull, runner.orNull) }
        try object.encode(to: encoder)
    }
}

extension Acceptance {
    /// What it permits, in words.
    package var text: String {
        guard let run else {
            return "accepted in advance: its next commit until \(DueTime.text(until)) may delete and change any number "
                + "of rows; `tributary accept \(source) --withdraw` withdraws this"
        }
        return "the documents of run \(run) are accepted, and the next run commits them; "
            + "`tributary sync \(source)` does so now"
    }
}

extension SourceState {
    /// Why nothing is sent until the source is resumed, in words; nil if it is not stopped.
    var reasonOfStop: String? {
        let end = "nothing is fetched until `tributary resume \(source)`"
        if let pausedAt { return "paused since \(DueTime.text(pausedAt)): \(end)" }
        guard isStopped else { return nil }
        return
            "paused: the process died \(attempts) times in a row during a run; \(end), or until its declaration changes"
    }
}

extension SourceState {
    /// Returns the state with a note on a permission. What advises to give it is left out.
    fileprivate func noted(_ acceptance: Acceptance) -> SourceState {
        var state = self
        var notes = (note ?? "").components(separatedBy: "; ").filter { !$0.isEmpty }
        if acceptance.run != nil {
            notes.removeAll { $0 == DueTime.blockedNote(on: source) }
            state.error = error.map(AcceptAdvice.removed)
        }
        state.note = ([acceptance.text] + notes).joined(separator: "; ")
        return state
    }

    fileprivate var notedAsStale: SourceState {
        var state = self
        let last = lastGood.map { "its last good run ended \(DueTime.text($0))" } ?? "it has had no good run"
        state.note = ["stale: \(last), and fresh_within has passed", note].compactMap(\.self).joined(separator: "; ")
        return state
    }
}

/// Sources that are only in the store.
extension TributaryConfiguration {
    /// Returns the names of stored sources that are not declared.
    package func undeclaredSources(among states: [String: SourceState]) -> [String] {
        states.keys.filter { self[source: $0] == nil }.sorted()
    }

    /// Returns the note on such a source.
    package static func undeclared(_ source: String) -> String {
        "source '\(source)' is in the store and no longer declared; `tributary purge \(source)` deletes what it has written"
    }
}

extension SourceStatus {
    package var condition: SourceCondition {
        guard let declaration else { return .undeclared }
        return declaration.isEnabled ? state.condition : .off
    }

    /// What is said in place of the time at which it is due; nil where it is due at a time.
    package var dueWord: String? {
        switch condition {
        case .off, .undeclared, .gone: "never"
        case .paused where declaration?.waitsForResume(in: state) ?? state.isStopped: "after resume"
        default: nil
        }
    }

    /// True for a source that needs attention.
    package var isProblem: Bool { condition <= .gone || isStale }
}
