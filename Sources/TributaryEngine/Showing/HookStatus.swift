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
        let object: JSONObject = [
            "hook": hook.name, "on": hook.events.map(\.rawValue).sorted(), "sources": hook.sources, "state": word,
            "run": (state?.position.run).orNull, "behind": behind, "delivered_at": (state?.deliveredAt).orNull,
            "attempts": state?.attempts ?? 0, "next_attempt": (state?.nextAttempt).orNull,
            "error": (state?.error).orNull,
        ]
        try object.encode(to: encoder)
    }

    package var isGone: Bool { state?.gone == hook.fingerprint }

    package var word: String {
        guard let state else { return "new" }
        if isGone { return "gone" }
        if state.attempts > 0 { return "retrying" }
        return state.step > 0 ? "delivering" : "waiting"
    }
}
