import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStores
package import Foundation

/// The reason why a source sends no request although it has failed or is due.
package struct SourceWait: Sendable, Equatable, Encodable {
    package enum Reason: String, Sendable, CaseIterable, Encodable {
        /// A server has asked this source, or another one, for a pause (`Retry-After`).
        case host
        /// The source's server was busy in the last run, and named no time.
        case server
        /// The source has failed.
        case backOff = "back_off"
        /// The process died during the last run.
        case process
        /// The source waits for the rate limit of its host.
        case pace
        /// The source waits for a slot, or for a permit at its host.
        case slot
    }

    package let reason: Reason
    /// The time of the next request; nil if it is not known.
    package let until: Date?
    /// The reason and the end in words.
    package let text: String

    private enum CodingKeys: String, CodingKey { case reason, until }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(reason, forKey: .reason)
        try container.encode(until, forKey: .until)
    }
}

/// Finds the reasons for which sources wait, from the store and, in a daemon, from its pauses at hosts.
struct SourceWaits {
    private let configuration: TributaryConfiguration
    private let daemons: SharedDaemons?
    /// The ends of the pauses that servers asked for.
    private let pauses: [Origin: Date]
    /// The sources that the servers asked for these pauses.
    private let causes: [Origin: Set<String>]
    private let paces: HostPaceNotes
    /// The sources with a run in progress, in any process.
    private let running: Set<String>
    private let isDaemonRunning: Bool
    private let now: Date

    /// - Parameters:
    ///   - states: the states of all sources; nil to read them if they are needed.
    ///   - pauses: the pauses that are not in the store.
    /// - Throws: `StoreError`.
    init(
        _ configuration: TributaryConfiguration, in store: (any MainStore)?, _ states: [String: SourceState]? = nil,
        among daemons: SharedDaemons?, pauses known: [Origin: Date], isDaemonRunning: Bool, now: Date
    ) throws {
        self.configuration = configuration
        self.daemons = daemons
        running = try daemons?.running ?? store?.claimed(among: configuration.sources.map(\.name)) ?? []
        self.isDaemonRunning = daemons.map { !$0.records.isEmpty } ?? isDaemonRunning
        self.now = now
        var pauses: [Origin: Date] = [:]
        for (text, end) in try store?.read({ try $0.waits.busyHosts(at: now) }) ?? [:] {
            if let origin = Origin(text) { pauses[origin] = end }
        }
        // Those of this process are measured by its uptime, so that they differ a little at each look.
        for (origin, end) in known where end > (pauses[origin] ?? .distantPast) + 1 { pauses[origin] = end }
        self.pauses = pauses.filter { $0.value > now }
        let needsOthers = !self.pauses.isEmpty || configuration.hosts.havePace
        let states = try states ?? (needsOthers ? store?.read { try $0.sources.all() } ?? [:] : [:])
        causes = Self.causes(of: self.pauses, states, configuration)
        paces = HostPaceNotes(configuration, states: states, now: now)
    }

    /// Returns true if a run of the source is in progress, in any process.
    func isRunning(_ source: String) -> Bool { running.contains(source) }

    /// Returns the wait that decides when a source sends its next request; nil for its ordinary interval, for a running
    /// source, and for one that is stopped.
    func wait(of source: SourceDeclaration, _ state: SourceState) -> SourceWait? {
        guard source.isEnabled, !source.isGone(in: state), !source.waitsForResume(in: state) else {
            return nil
        }
        let start = DueTime.start(source, state: state, now: now)
        if let (origin, end) = pause(of: source), end >= start { return atHost(origin, end, source) }
        guard start <= now else { return afterLastRun(state, until: start) }
        if isRunning(source.name) { return nil }
        if let note = paces.note(on: source) { return SourceWait(reason: .pace, until: nil, text: note) }
        guard isDaemonRunning, daemons == nil || daemons?.owner(of: source.name) != nil else { return nil }
        return SourceWait(
            reason: .slot, until: nil, text: "due: waits for a slot, for its host, or for rows of another source")
    }

    private func afterLastRun(_ state: SourceState, until start: Date) -> SourceWait? {
        let next = "next attempt \(DueTime.text(ofEnd: start))"
        if state.attempts > 0 {
            guard !isRunning(state.source) else { return nil }
            return SourceWait(
                reason: .process, until: start, text: "the process died during the last run; \(next)")
        }
        guard state.failures > 0 else { return nil }
        if let asked = state.askedUntil, abs(asked.timeIntervalSince(start)) < 1 {
            return SourceWait(reason: .server, until: start, text: "the server is busy; \(next)")
        }
        let count = state.failures == 1 ? nil : "\(state.failures) failed runs in a row"
        let word = state.outcome == .blocked ? "blocked" : count == nil ? "failed" : nil
        let result = [word, count].compactMap(\.self).joined(separator: "; ")
        return SourceWait(reason: .backOff, until: start, text: "\(result); \(next)")
    }

    private func atHost(_ origin: Origin, _ end: Date, _ source: SourceDeclaration) -> SourceWait {
        let until = DueTime.text(ofEnd: end)
        if causes[origin]?.contains(source.name) == true {
            return SourceWait(reason: .host, until: end, text: "the server asks to wait until \(until)")
        }
        let cause = causes[origin]?.min().map { " source '\($0)'" } ?? ""
        return SourceWait(
            reason: .host, until: end,
            text: "waits for \(configuration.hosts.key(of: origin)) until \(until), as it asked\(cause) to wait")
    }

    /// Returns the sources whose last runs were asked for the pauses.
    private static func causes(
        of pauses: [Origin: Date], _ states: [String: SourceState], _ configuration: TributaryConfiguration
    ) -> [Origin: Set<String>] {
        var causes: [Origin: Set<String>] = [:]
        guard !pauses.isEmpty else { return causes }
        for (name, state) in states {
            guard let asked = state.askedUntil else { continue }
            // `status NAME` reads no declarations but those of the named sources.
            let origins = configuration[source: name]?.knownOrigins
            for (origin, end) in pauses where abs(asked.timeIntervalSince(end)) < 1 {
                if origins?.contains(origin) ?? true { causes[origin, default: []].insert(name) }
            }
        }
        return causes
    }

    /// Returns the last pause at the hosts of a source's requests, which holds for the whole source.
    private func pause(of source: SourceDeclaration) -> (origin: Origin, end: Date)? {
        guard !pauses.isEmpty else { return nil }
        return source.knownOrigins.compactMap { origin in pauses[origin].map { (origin, $0) } }.max { $0.1 < $1.1 }
    }
}
