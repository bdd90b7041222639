import Crypto
import FeedDeclarations
import FeedModel
import Foundation

/// Decides what a hook is told, and when, by pure functions of the runs. So it does not matter when they are read: a hook
/// that was away for a day is told the same as one that was not.
enum HookDecision {
    /// One of the things that a run may have to tell. They are told in this order.
    enum Step: Int, CaseIterable {
        case blocked = 1, failing, recovered, changed, drifted
    }

    /// What comes next of a run.
    struct Next: Equatable {
        var step: Step
        /// False where the hook has not asked for it, and only remembers.
        var isTold: Bool
        /// What the hook knows of the source afterwards.
        var memory: HookMemory
    }

    /// The longest wait between two attempts, and the first.
    static let longestWait = 3600.0
    static let firstWait = 2.0

    /// Returns what comes next of a run; nil where nothing does.
    ///
    /// - Parameters:
    ///   - first: the first step that is not dealt with.
    ///   - memory: what the hook knows of the source.
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
            return Next(step: step, isTold: true, memory: after)
        case .failing:
            // A run that asked no server says nothing of whether the source fails.
            guard hook.tracksFailures, !memory.isFailing, report.kind == nil,
                report.outcome.isFailure || report.outcome.isGood,
                let since = report.failingSince, since + hook.after.seconds <= run.finishedAt
            else { return nil }
            after.isFailing = true
            return Next(step: step, isTold: hook.events.contains(.failing), memory: after)
        case .recovered:
            guard report.outcome.isGood, memory != HookMemory(), report.kind == nil || report.kind == .purge else {
                return nil
            }
            // A source that is purged has not recovered; it is not there any more.
            let isTold = (memory.isFailing || memory.isStale) && report.kind == nil && hook.events.contains(.recovered)
            return Next(step: step, isTold: isTold, memory: HookMemory())
        case .changed:
            let counts = report.counts
            guard hook.events.contains(.changed), report.outcome == .committed,
                counts.inserted + counts.updated + counts.deleted > 0
            else { return nil }
            return Next(step: step, isTold: true, memory: memory)
        case .drifted:
            guard hook.events.contains(.drifted), !report.drift.isEmpty else { return nil }
            return Next(step: step, isTold: true, memory: memory)
        }
    }

    /// True where a run may have something to tell to some hook.
    static func mayTell(_ report: RunReport) -> Bool {
        report.outcome.isFailure || report.failingSince != nil || !report.drift.isEmpty
            || report.counts.inserted + report.counts.updated + report.counts.deleted > 0
    }

    /// Returns the seconds until the next attempt: doubled with each up to an hour, then from 80 % to 120 % of that.
    static func wait(attempts: Int, jitter: Double) -> Double {
        min(longestWait, firstWait * pow(2, Double(min(attempts, 40) - 1))) * (0.8 + 0.4 * jitter)
    }

    /// Returns a text that is the same for each attempt to deliver an event, and different for every other event.
    ///
    /// - Parameter occasion: what tells it from others of its kind, of the same hook and source.
    static func id(_ kind: HookEventKind, hook: String, source: String?, occasion: String) -> String {
        let text = [kind.rawValue, hook, source ?? "", occasion].joined(separator: "\u{0}")
        let digits = SHA256.hash(data: Data(text.utf8)).prefix(16).map { byte in
            let text = String(byte, radix: 16)
            return text.count == 1 ? "0" + text : text
        }
        return "msg_" + digits.joined()
    }
}

extension HookDeclaration {
    /// True where the hook must know which sources fail.
    var tracksFailures: Bool { events.contains(.failing) || events.contains(.recovered) }

    /// True where the hook must know which sources are stale.
    var tracksStaleness: Bool { events.contains(.stale) || events.contains(.recovered) }
}
