import FeedConfiguration
import FeedModel
import Foundation

/// Decides which events a hook receives, and when, by pure functions of the runs. The events do not depend on the time
/// of reading: a receiver that was down for a day gets the same events.
enum HookDecision {
    /// A possible event of a run. Events of one run are delivered in this order.
    enum Step: Int, CaseIterable {
        case blocked = 1, failing, recovered, changed, drifted
    }

    /// The next event of a run.
    struct Next: Equatable {
        var step: Step
        /// False if the hook does not subscribe to the event, and only its memory changes.
        var isSent: Bool
        /// The hook's memory of the source after it.
        var memory: HookMemory
    }

    /// The longest wait between two attempts, and the first.
    static let longestWait = 3600.0
    static let firstWait = 2.0

    /// Returns the next event of a run; nil without one.
    ///
    /// - Parameters:
    ///   - first: the first step that has not been handled.
    ///   - memory: the hook's memory of the source.
    static func next(of run: ChangelogRun, from first: Int, _ memory: HookMemory, _ hook: HookDeclaration) -> Next? {
        for step in Step.allCases where step.rawValue >= first {
            if let next = next(step, of: run, memory, hook) { return next }
        }
        return nil
    }

    private static func next(
        _ step: Step, of run: ChangelogRun, _ memory: HookMemory, _ hook: HookDeclaration
    ) -> Next? {
        let report = run.report
        var after = memory
        switch step {
        case .blocked:
            guard report.outcome == .blocked, !memory.isBlocked, hook.events.contains(.blocked) else { return nil }
            after.isBlocked = true
            return Next(step: step, isSent: true, memory: after)
        case .failing:
            // A run without a request does not show whether the source fails.
            guard hook.tracksFailures, !memory.isFailing, report.kind == nil,
                report.outcome.isFailure || report.outcome.isGood,
                let since = report.failingSince, since + hook.after.seconds <= run.finishedAt
            else { return nil }
            after.isFailing = true
            return Next(step: step, isSent: hook.events.contains(.failing), memory: after)
        case .recovered:
            guard report.outcome.isGood, memory != HookMemory(), report.kind == nil || report.kind == .purge else {
                return nil
            }
            // A purge ends the source, which is no recovery.
            let isSent = (memory.isFailing || memory.isStale) && report.kind == nil && hook.events.contains(.recovered)
            return Next(step: step, isSent: isSent, memory: HookMemory())
        case .changed:
            let counts = report.counts
            guard hook.events.contains(.changed), report.outcome == .committed,
                counts.changed > 0
            else { return nil }
            return Next(step: step, isSent: true, memory: memory)
        case .drifted:
            guard hook.events.contains(.drifted), !report.drift.isEmpty else { return nil }
            return Next(step: step, isSent: true, memory: memory)
        }
    }

    /// Returns true if a run may cause an event.
    static func mayNotify(_ report: RunReport) -> Bool {
        report.outcome.isFailure || report.failingSince != nil || !report.drift.isEmpty
            || report.counts.changed > 0
    }

    /// Returns the seconds until the next attempt: doubled with each attempt up to an hour, with a jitter of 20 %.
    static func wait(attempts: Int, jitter: Double) -> Double {
        min(longestWait, firstWait * pow(2, Double(min(attempts, 40) - 1))) * (0.8 + 0.4 * jitter)
    }

    /// Returns the id of an event, the same for each attempt to deliver it.
    ///
    /// - Parameter occasion: distinguishes events of one kind, hook and source.
    static func id(_ kind: HookEventKind, hook: String, source: String?, occasion: String) -> String {
        let text = [kind.rawValue, hook, source ?? "", occasion].joined(separator: "\u{0}")
        return "msg_" + SHA256.digest(of: Data(text.utf8)).hexadecimal.prefix(32)
    }
}

extension HookDeclaration {
    /// True if the hook needs to track failing sources.
    var tracksFailures: Bool { events.contains(.failing) || events.contains(.recovered) }

    /// True if the hook needs to track stale sources.
    var tracksStaleness: Bool { events.contains(.stale) || events.contains(.recovered) }
}

/// An event that depends on the time and not on a run: a source has failed for long enough, or is stale.
///
/// The store keeps it until it is delivered, because it may not be due by another daemon's clock, or no longer.
struct TimedEvent: Codable {
    let kind: HookEventKind
    let source: String
    /// The start of the failure or staleness.
    let since: Date
    let due: Date
    var error: String?
    var failingSince: Date?
    var lastGood: Date?

    /// A source that has failed since a time.
    init(failing source: String, since: Date, _ hook: HookDeclaration) {
        kind = .failing
        self.source = source
        self.since = since
        due = since + hook.after.seconds
        failingSince = since
    }

    /// - Returns: nil for a source without a successful or failed run.
    init?(stale state: SourceState, after seconds: Double) {
        guard let since = state.freshFrom else { return nil }
        kind = .stale
        source = state.source
        self.since = since
        due = since + seconds
        error = state.error
        failingSince = state.failingSince
        lastGood = state.lastGood
    }

    /// - Returns: nil for a text that ``text`` does not give.
    init?(_ text: String) {
        guard let event = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else { return nil }
        self = event
    }

    /// The event as JSON, for a column.
    var text: String {
        get throws { String(decoding: try JSONEncoder().encode(self), as: UTF8.self) }
    }

    /// Returns true if the event is in a hook's memory.
    func isKnown(to memory: HookMemory?) -> Bool {
        (kind == .stale ? memory?.isStale : memory?.isFailing) ?? false
    }

    /// Returns a hook's memory after the event.
    func noted(in memory: HookMemory?) -> HookMemory {
        var known = memory ?? HookMemory()
        if kind == .stale { known.isStale = true } else { known.isFailing = true }
        return known
    }

    func event(for hook: HookDeclaration) -> HookEvent {
        let began = Int(since.timeIntervalSince1970 * 1000)
        var event = HookEvent(
            id: HookDecision.id(kind, hook: hook.name, source: source, occasion: "\(began)"), kind: kind,
            hook: hook.name, source: source, time: due)
        event.error = error
        event.failingSince = failingSince
        event.lastGood = lastGood
        return event
    }
}
