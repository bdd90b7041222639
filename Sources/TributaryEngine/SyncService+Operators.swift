package import FeedConfiguration
package import FeedFetching
import FeedModel
package import FeedStores
package import Foundation

/// What operators ask of a running service, and what they see of it.
extension SyncService {
    /// Returns true for a source that is declared, or has runs. Blocks its thread.
    ///
    /// - Throws: `StoreError`.
    package func isKnown(_ source: String) throws -> Bool {
        try configuration[source: source] != nil || !store.read { try $0.runs.last(of: source, limit: 1) }.isEmpty
    }

    /// The activity at the hosts.
    package var hostActivity: [HostActivity] { environment.hosts.activity }

    /// The origins that asked for a pause, as with `Retry-After`, and the end of each pause.
    package var hostPauses: [Origin: Date] {
        let now = environment.clock.now()
        return environment.hosts.pauses.mapValues { now + $0.seconds }
    }

    /// Permits sources to exceed their limits once, and commits the documents of blocked runs at once. Blocks its
    /// thread.
    ///
    /// - Parameters:
    ///   - inAdvance: true for the next commits of sources that are not blocked.
    ///   - run: the blocked run that the user has seen, or an earlier one with the same documents and changes; nil for
    ///     the current one.
    /// - Throws: ``Refusal``; `StoreError`.
    @discardableResult
    package func accept(_ sources: [String], inAdvance: Bool = false, run: Int64? = nil) throws -> [Acceptance] {
        let acceptances = try configuration.accept(
            sources, inAdvance: inAdvance, run: run, in: store, at: environment.clock.now())
        if !inAdvance { try refreshEverywhere(sources) }
        return acceptances
    }

    /// Pauses sources: nothing is fetched for them until they are resumed. A run in progress goes on. Blocks its thread.
    ///
    /// - Returns: the sources that were not paused so before.
    /// - Throws: `StoreError`.
    package func pause(_ sources: [String]) throws -> [String] {
        try store.write { try $0.sources.pause(sources, now: environment.clock.now()) }
    }

    /// Resumes paused sources, and refreshes them. Blocks its thread.
    ///
    /// - Returns: the sources that were paused.
    /// - Throws: `StoreError`.
    package func resume(_ sources: [String]) throws -> [String] {
        let resumed = try store.write { try $0.sources.resume(sources) }
        if !resumed.isEmpty { try refreshEverywhere(resumed) }
        return resumed
    }

    /// Refreshes sources now, in all daemons of the store; all sources for an empty array. Blocks its thread.
    ///
    /// - Throws: `StoreError`.
    package func refreshEverywhere(_ sources: [String]) throws {
        if let shared = store as? any SharedStore {
            try shared.requestRefresh(sources)
        } else {
            refresh(sources.isEmpty ? nil : sources)
        }
    }

    /// Refreshes sources now, in all daemons of the store; none if one of them is paused. Blocks its thread.
    ///
    /// - Parameter sources: empty for all.
    /// - Returns: the paused source.
    /// - Throws: `StoreError`.
    package func refreshUnlessStopped(_ sources: [String]) throws -> String? {
        let stopped = try sources.first { try store.states(of: $0).source.isStopped }
        if stopped == nil { try refreshEverywhere(sources) }
        return stopped
    }

    /// Sends the event again at once that a hook's receiver did not take, in whichever daemon delivers the hook's events.
    /// Blocks its thread.
    ///
    /// - Returns: false if no event has failed.
    /// - Throws: `StoreError`.
    package func retryHook(_ name: String) throws -> Bool {
        guard try environment.store.write({ try $0.hooks.retry(name) }) else { return false }
        if let shared = store as? any SharedStore {
            try shared.notifyRetry(ofHook: name)
        } else {
            hooks.note(retryOf: name)
        }
        return true
    }
}
