package import FeedConfiguration
package import FeedModel
package import FeedStores
package import Foundation

/// The states of a configuration's sources and hooks, from its store.
package struct StoreStatus: Sendable {
    package let sources: [SourceStatus]
    /// The sources that are only in the store.
    package let undeclared: [SourceStatus]
    package let hooks: [HookStatus]
    /// The daemons of a shared store; nil for other stores.
    package let daemons: SharedDaemons?

    /// Reads the states of sources and hooks. Blocks its thread.
    ///
    /// - Parameters:
    ///   - names: the sources to read, without hooks; empty for all sources and hooks.
    ///   - store: nil if it does not exist yet.
    ///   - pauses: the pauses at hosts of this process, which may not be in the store.
    ///   - isDaemonRunning: whether a daemon runs, for a store that is not shared.
    ///   - now: the time for which waits are decided.
    /// - Throws: `StoreError`.
    package init(
        _ configuration: TributaryConfiguration, only names: [String] = [], in store: (any MainStore)?,
        pauses: [Origin: Date] = [:], isDaemonRunning: Bool, now: Date
    ) throws {
        let stored = try store?.read { try $0.sources.all() } ?? [:]
        let daemons = try (store as? any SharedStore).map(SharedDaemons.init)
        self.daemons = daemons
        let acceptances = try store?.read { try $0.acceptances.all(at: now) } ?? [:]
        let waits = try SourceWaits(
            configuration, in: store, stored, among: daemons, pauses: pauses, isDaemonRunning: isDaemonRunning, now: now
        )
        sources = configuration.sources.filter { names.isEmpty || names.contains($0.name) }.map { source in
            let state = stored[source.name] ?? SourceState(source: source.name)
            return SourceStatus(
                source, state, waits.wait(of: source, state), acceptances[source.name],
                isRunning: waits.isRunning(source.name), among: daemons, now: now)
        }
        guard names.isEmpty else {
            undeclared = []
            hooks = []
            return
        }
        undeclared = configuration.undeclaredSources(among: stored).compactMap { stored[$0] }.map {
            SourceStatus(nil, $0, nil, nil, isRunning: waits.isRunning($0.source), among: daemons, now: now)
        }
        let states = try configuration.hooks.isEmpty ? [:] : store?.read { try $0.hooks.all() } ?? [:]
        hooks = try configuration.hooks.map { try HookStatus($0, states[$0.name], in: store) }
    }

    /// Reads the state of one source of a running daemon. Blocks its thread.
    ///
    /// - Parameters:
    ///   - declaration: nil for a source that is only in the store.
    ///   - state: as it is in the store.
    ///   - pauses: the pauses at hosts of this process, which may not be in the store.
    /// - Throws: `StoreError`.
    package static func source(
        _ declaration: SourceDeclaration?, _ state: SourceState, _ configuration: TributaryConfiguration,
        in store: any MainStore, pauses: [Origin: Date], now: Date
    ) throws -> SourceStatus {
        let daemons = try (store as? any SharedStore).map(SharedDaemons.init)
        let waits = try SourceWaits(
            configuration, in: store, among: daemons, pauses: pauses, isDaemonRunning: true, now: now)
        let wait = declaration.flatMap { waits.wait(of: $0, state) }
        let acceptance = try declaration.flatMap { declaration in
            try store.read { try $0.acceptances.acceptance(of: declaration.name, at: now) }
        }
        return SourceStatus(
            declaration, state, wait, acceptance, isRunning: waits.isRunning(state.source), among: daemons, now: now)
    }

    /// Returns the object that `status --json` prints.
    ///
    /// - Parameters:
    ///   - onlyProblems: true for only the sources that need attention.
    ///   - isDaemonRunning: whether a daemon runs, for a store that is not shared.
    package func output(onlyProblems: Bool = false, isDaemonRunning: Bool) -> JSONObject {
        let names = daemons.map { $0.records.map(\.name) }
        return [
            "sources": onlyProblems ? sources.filter(\.isProblem) : sources + undeclared,
            "hooks": onlyProblems ? [] : hooks,
            // The names are those of the running daemons of a shared store.
            "daemon": ["running": names.map { !$0.isEmpty } ?? isDaemonRunning, "names": names] as JSONObject,
        ]
    }
}

/// The live daemons of a shared store, and their sources.
package struct SharedDaemons: Sendable {
    package let records: [DaemonRecord]
    private let shares: DaemonShares
    private let runners: [String: String]

    package init(of store: any SharedStore) throws {
        records = try store.daemons()
        shares = DaemonShares(records)
        runners = try store.runners()
    }

    /// Returns the name of the daemon that runs a source; nil if no daemon declares it.
    package func owner(of source: String) -> String? { shares.owner(of: source).flatMap(name) }

    /// The sources with a run in progress.
    var running: Set<String> { Set(runners.keys) }

    /// Returns the name of the process that is running a source; nil if none is.
    package func runner(of source: String) -> String? { runners[source].map { name($0) ?? "no daemon" } }

    /// Returns the number of a daemon's sources.
    package func share(of record: DaemonRecord) -> Int { shares.sources(of: record.id).count }

    /// Returns the daemon of a source, and whether the source is running, as text.
    package func text(for source: String) -> String {
        guard let runner = runner(of: source) else { return owner(of: source) ?? "-" }
        return runner + ", running"
    }

    /// Returns the daemons with their shares, as text.
    package func summary(now: Date) -> String {
        records.map { record in
            let count = shares.sources(of: record.id).count
            let since = RelativeTime.duration(max(0, now.timeIntervalSince(record.startedAt)))
            return "\(record.name) (\(count) \(count == 1 ? "source" : "sources"), for \(since))"
        }.joined(separator: ", ")
    }

    private func name(_ id: String) -> String? { records.first { $0.id == id }?.name }
}

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
