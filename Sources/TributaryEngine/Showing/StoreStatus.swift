package import FeedDeclarations
import FeedModel
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
    ///   - now: the time for waits at hosts.
    /// - Throws: `StoreError`.
    package init(
        _ configuration: TributaryConfiguration, only names: [String] = [], in store: (any MainStore)?,
        now: Date
    ) throws {
        let stored = try store?.sourceStates() ?? [:]
        let daemons = try (store as? any SharedStore).map(SharedDaemons.init)
        self.daemons = daemons
        let notes = HostPaceNotes(configuration, states: stored, now: now)
        sources = configuration.sources.filter { names.isEmpty || names.contains($0.name) }.map { source in
            var state = stored[source.name] ?? SourceState(source: source.name)
            if let turn = notes.note(on: source) {
                state.note = [state.note, turn].compactMap(\.self).joined(separator: "; ")
            }
            return SourceStatus(source, state, among: daemons, now: now)
        }
        guard names.isEmpty else {
            undeclared = []
            hooks = []
            return
        }
        undeclared = configuration.undeclaredSources(among: stored).compactMap { stored[$0] }.map {
            SourceStatus(nil, $0, among: daemons, now: now)
        }
        let states = try configuration.hooks.isEmpty ? [:] : store?.hookStates() ?? [:]
        hooks = try configuration.hooks.map { try HookStatus($0, states[$0.name], in: store) }
    }

    /// The object that `status --json` prints.
    package struct Output: Encodable {
        package struct Daemon: Encodable {
            var running: Bool
            /// The names of the running daemons of a shared store.
            var names: [String]?
        }

        var sources: [SourceStatus]
        var hooks: [HookStatus]
        var daemon: Daemon
    }

    /// - Parameters:
    ///   - onlyProblems: true for only the sources that need attention.
    ///   - isDaemonRunning: whether a daemon runs, for a store that is not shared.
    package func output(onlyProblems: Bool = false, isDaemonRunning: Bool) -> Output {
        let names = daemons.map { $0.records.map(\.name) }
        let daemon = Output.Daemon(running: names.map { !$0.isEmpty } ?? isDaemonRunning, names: names)
        return onlyProblems
            ? Output(sources: sources.filter(\.isProblem), hooks: [], daemon: daemon)
            : Output(sources: sources + undeclared, hooks: hooks, daemon: daemon)
    }
}
