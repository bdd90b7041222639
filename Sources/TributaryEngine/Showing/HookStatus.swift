package import FeedConfiguration
package import FeedModel
package import FeedStores
import Foundation

/// The state of a hook: its position, and the reason for a wait.
package struct HookStatus: Sendable, Encodable {
    /// The most counted runs.
    package static let mostCounted = 10_000

    package let hook: HookDeclaration
    /// nil until a daemon has run with the hook.
    package let state: HookState?
    /// The number of runs with undelivered events.
    package let behind: Int

    private enum Key: String, CodingKey {
        case hook, on, sources, state, run, behind, delivered_at, attempts, next_attempt, error
    }

    package init(_ hook: HookDeclaration, _ state: HookState?, in store: (any MainStore)?) throws {
        self.hook = hook
        self.state = state
        guard let state, let store else {
            behind = 0
            return
        }
        var queue = try HookQueue(hook, store, state: state)
        behind = try queue.countUnsent(limit: Self.mostCounted).count
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(hook.name, forKey: .hook)
        try container.encode(hook.events.map(\.rawValue).sorted(), forKey: .on)
        try container.encode(hook.sources, forKey: .sources)
        try container.encode(word, forKey: .state)
        try container.encode(state?.position.run, forKey: .run)
        try container.encode(behind, forKey: .behind)
        try container.encode(state?.deliveredAt, forKey: .delivered_at)
        try container.encode(state?.attempts ?? 0, forKey: .attempts)
        try container.encode(state?.nextAttempt, forKey: .next_attempt)
        try container.encode(state?.error, forKey: .error)
    }

    package var isGone: Bool { state?.gone == hook.fingerprint }

    package var word: String {
        guard let state else { return "new" }
        if isGone { return "gone" }
        if state.attempts > 0 { return "retrying" }
        return state.step > 0 ? "delivering" : "waiting"
    }
}
