package import FeedDeclarations
import FeedModel
package import FeedStores
package import Foundation

/// How the sources and hooks of a configuration stand in its store.
package struct StoreStatus: Sendable {
    package let sources: [SourceStatus]
    /// The sources that are in the store alone.
    package let undeclared: [SourceStatus]
    package let hooks: [HookStatus]
    /// The daemons, where several may share the store.
    package let daemons: SharedDaemons?

    /// Reads how all sources and hooks stand; blocks its thread.
    ///
    /// - Parameters:
    ///   - names: only these sources, and no hooks; all where there are none.
    ///   - store: nil where there is none yet.
    ///   - now: the time at which those that wait for a host are told.
    /// - Throws: `StoreError`.
    package init(
        _ configuration: TributaryConfiguration, only names: [String] = [], in store: (any MainStore)?,
        now: Date
    ) throws {
        let stored = try store?.sourceStates() ?? [:]
        let daemons = try (store as? any SharedStore).map(SharedDaemons.init)
        self.daemons = daemons
        let turns = HostTurns(configuration, states: stored, now: now)
        sources = configuration.sources.filter { names.isEmpty || names.contains($0.name) }.map { source in
            var state = stored[source.name] ?? SourceState(source: source.name)
            if let turn = turns.note(on: source) {
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

    /// An element of the array of `status --json`: declared sources come first, then others, then hooks.
    package enum Element: Encodable {
        case source(SourceStatus)
        case hook(HookStatus)

        package func encode(to encoder: any Encoder) throws {
            switch self {
            case .source(let status): try status.encode(to: encoder)
            case .hook(let status): try status.encode(to: encoder)
            }
        }
    }

    package var elements: [Element] { (sources + undeclared).map(Element.source) + hooks.map(Element.hook) }
}
