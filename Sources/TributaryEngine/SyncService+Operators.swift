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

    /// Withdraws the permissions of sources to exceed their limits. Blocks its thread.
    ///
    /// - Returns: the sources that had one.
    /// - Throws: `StoreError`.
    package func withdraw(_ sources: [String]) throws -> [String] {
        try store.write { try $0.acceptances.withdraw(sources, at: environment.clock.now()) }
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
        let configuration = configuration
        let stopped = try sources.first { name in
            let state = try store.states(of: name).source
            return configuration[source: name]?.waitsForResume(in: state) ?? state.isStopped
        }
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

/// The reason why an acceptance, a plan or a correction is not possible, and what to do instead. Nothing has changed.
package struct Refusal: Error, CustomStringConvertible {
    package let description: String
    /// The blocked run that waits in place of the one that was to be accepted.
    package let waiting: Int64?
    /// True if it may be possible in a moment.
    package let isBusy: Bool

    init(_ description: String, waiting: Int64? = nil, isBusy: Bool = false) {
        self.description = description
        self.waiting = waiting
        self.isBusy = isBusy
    }
}

extension MainStore {
    /// Permits sources to exceed their limits once: with the documents of their blocked runs, or with their next
    /// commits. Blocks its thread.
    ///
    /// - Parameters:
    ///   - inAdvance: true for sources that are not blocked.
    ///   - run: the blocked run that the user has seen; nil for the current one.
    ///   - confirm: gets the permissions before they are granted; its errors keep them from it.
    /// - Returns: the permissions, in the order of the sources.
    /// - Throws: ``Refusal`` if one of the sources does not allow it; nothing has changed then. `StoreError`.
    package func accept(
        _ sources: [String], inAdvance: Bool = false, run: Int64? = nil, at now: Date,
        confirm: ([Acceptance]) throws -> Void = { _ in }
    ) throws -> [Acceptance] {
        let shown = try acceptances(of: sources, inAdvance: inAdvance, run: run, at: now)
        try confirm(shown)
        // Another run may be blocked by now, which nobody has confirmed.
        let accepted = try acceptances(of: sources, inAdvance: inAdvance, run: nil, at: now)
        guard accepted.map(\.run) == shown.map(\.run) else {
            throw Refusal("another run has been blocked meanwhile; nothing was accepted")
        }
        try write { try $0.acceptances.add(accepted) }
        return accepted
    }

    private func acceptances(
        of sources: [String], inAdvance: Bool, run: Int64?, at now: Date
    ) throws -> [Acceptance] {
        try sources.map { source in
            let blocked = try read { try $0.runs.blocked(of: source) }?.number
            if let run, run != blocked {
                throw Refusal(
                    "run \(run) of source '\(source)' is not blocked" + (blocked.map { "; run \($0) is" } ?? ""),
                    waiting: blocked)
            }
            switch (blocked, inAdvance) {
            case (nil, false):
                throw Refusal(
                    "source '\(source)' is not blocked, so there is nothing to accept; "
                        + "`tributary accept --in-advance \(source)` lets its next commit delete and change any number of rows"
                )
            case (let blocked?, true):
                throw Refusal(
                    "run \(blocked) of source '\(source)' is blocked; `tributary accept \(source)` accepts its documents"
                )
            default:
                return Acceptance(source: source, run: blocked, from: now)
            }
        }
    }
}

extension TributaryConfiguration {
    /// Permits sources to exceed their limits once, as ``FeedStores/MainStore/accept(_:inAdvance:run:at:confirm:)`` does.
    ///
    /// - Parameter run: the blocked run that the user has seen, or an earlier one with the same documents and changes; nil
    ///   for the current one.
    package func accept(
        _ sources: [String], inAdvance: Bool, run: Int64?, in store: any MainStore, at now: Date,
        confirm: ([Acceptance]) throws -> Void = { _ in }
    ) throws -> [Acceptance] {
        let waiting = try run.flatMap { run in
            try sources.first.flatMap { try waitingRun(for: run, of: $0, in: store) }
        }
        return try store.accept(sources, inAdvance: inAdvance, run: waiting ?? run, at: now, confirm: confirm)
    }
}

extension JSONObject {
    /// The permissions that sources were given.
    package init(_ acceptances: [Acceptance], of sources: [String]) {
        let runs = acceptances.compactMap(\.run)
        self = [
            "accepted": sources, "runs": acceptances.contains { $0.run == nil } ? nil : runs,
            "until": acceptances.map(\.until).min(),
        ]
    }
}
