package import FeedDeclarations
package import FeedFetching
import FeedStores
package import Foundation

/// What a service does at this moment, for those who look on, and the retry of a hook that they ask for.
extension SyncService {
    /// What goes on at the hosts.
    package var hostActivity: [HostActivity] { environment.hosts.activity }

    /// The origins that asked for a pause, as with `Retry-After`, and the end of each pause.
    package var hostPauses: [Origin: Date] { environment.busyHosts.waiting(now: environment.clock.now()) }

    /// Sends the event again at once that a hook's receiver did not take. Where another daemon delivers the hook's events, it
    /// does so at its next look. Blocks its thread.
    ///
    /// - Returns: false where there is none.
    /// - Throws: `StoreError`.
    package func retryHook(_ name: String) throws -> Bool {
        let isRetried = try environment.store.retryHook(name)
        if isRetried { hooks.note(retryOf: name) }
        return isRetried
    }
}
