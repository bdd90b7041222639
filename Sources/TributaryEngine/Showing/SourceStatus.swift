package import FeedDeclarations
package import FeedModel
import Foundation

/// How a source stands: an element of `status --json`.
package struct SourceStatus: Sendable, Encodable {
    /// nil for a source that is in the store alone.
    package let declaration: SourceDeclaration?
    package let state: SourceState
    /// The daemon to which the source belongs, and the one that runs it at this moment, where several share the store.
    package let daemon: String?
    package let runner: String?
    private let isShared: Bool

    package init(_ declaration: SourceDeclaration?, _ state: SourceState, among daemons: SharedDaemons?) {
        self.declaration = declaration
        self.state = state
        daemon = daemons?.owner(of: state.source)
        runner = daemons?.runner(of: state.source)
        isShared = daemons != nil
    }

    private enum Key: String, CodingKey {
        case source, outcome, last_run, last_commit, next_due, failures, error, note, declared, daemon, runner, held,
            failing_since
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(state.source, forKey: .source)
        try container.encode(state.outcome, forKey: .outcome)
        try container.encode(state.lastRun, forKey: .last_run)
        try container.encode(state.lastCommit, forKey: .last_commit)
        try container.encode(state.nextDue, forKey: .next_due)
        try container.encode(state.failures, forKey: .failures)
        try container.encode(state.error, forKey: .error)
        try container.encode(state.note, forKey: .note)
        if declaration == nil { try container.encode(false, forKey: .declared) }
        try container.encode(state.isHeldBack, forKey: .held)
        try container.encode(state.failingSince, forKey: .failing_since)
        guard isShared else { return }
        try container.encode(daemon, forKey: .daemon)
        try container.encode(runner, forKey: .runner)
    }
}
