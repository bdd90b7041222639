package import FeedConfiguration
package import FeedModel
package import Foundation

/// Notes on due sources that wait for the rate limit of their host.
package struct HostPaceNotes {
    private let rules: HostRules
    /// The number of sources that are due, by the rules' keys.
    private var due: [String: Int] = [:]
    private let states: [String: SourceState]
    private let now: Date

    package init(_ configuration: TributaryConfiguration, states: [String: SourceState], now: Date) {
        rules = configuration.hosts
        self.states = states
        self.now = now
        guard rules.havePace else { return }
        for source in configuration.enabledSources {
            if let key = key(of: source), isDue(source) { due[key, default: 0] += 1 }
        }
    }

    /// Returns a note for a due source; nil for other sources, and without a rate limit.
    package func note(on source: SourceDeclaration) -> String? {
        guard source.isEnabled, let key = key(of: source), let pace = rules.pace(at: key), isDue(source) else {
            return nil
        }
        let count = due[key] ?? 1
        let others = count == 1 ? "1 source is due there" : "\(count) sources are due there"
        return "due: waits for its turn at \(key), which gets one request in \(pace) ([hosts] pace); \(others)"
    }

    private func key(of source: SourceDeclaration) -> String? {
        source.firstOrigin.map(rules.key).flatMap { rules.pace(at: $0) == nil ? nil : $0 }
    }

    private func isDue(_ source: SourceDeclaration) -> Bool {
        let state = states[source.name]
        return !(state?.isStopped ?? false) && DueTime.start(source, state: state, now: now) <= now
    }
}
