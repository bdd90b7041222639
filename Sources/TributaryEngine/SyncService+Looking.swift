package import FeedDeclarations
package import FeedFetching
import FeedStores
package import Foundation

/// The activity of a service, for commands and the page, and the retry of a hook.
extension SyncService {
    /// The activity at the hosts.
    package var hostActivity: [HostActivity] { environment.hosts.activity }

    /// The origins that requested a wait, as with `Retry-After`, with the ends of the waits.
    package var hostPauses: [Origin: Date] { environment.busyHosts.waiting(now: environment.clock.now()) }

    /// Sends a hook's failed event again at once. If another daemon delivers the hook's events, it does so at its next
    /// check. Blocks its thread.
    ///
    /// - Returns: false without a failed event.
    /// - Throws: `StoreError`.
    package func retryHook(_ name: String) throws -> Bool {
        let isRetried = try environment.store.retryHook(name)
        if isRetried { hooks.note(retryOf: name) }
        return isRetried
    }
}
