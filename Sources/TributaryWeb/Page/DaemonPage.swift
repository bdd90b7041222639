import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The page of what goes on: hooks, the figures of this daemon over time, hosts, daemons, and the sources that are due
/// within the hour.
enum DaemonPage {
    static let path = "/daemon"
    /// The most sources that are due, and of those that wait at a host, that are named.
    private static let most = (due: 100, waiting: 5)

    static func page(_ table: SourceTable, _ configuration: TributaryConfiguration, in pages: Pages, now: Date) -> Page
    {
        let running = Set(pages.service.activeRuns.entries.keys)
        var coming: [(due: Date, index: Int)] = []
        var waiting: [String: [String]] = [:]
        for index in table.sources.indices {
            let source = table.sources[index]
            guard let declaration = source.declaration, [.failing, .new, .ok].contains(table.conditions[index]),
                table.dueTimes[index] <= now + 3_600
            else { continue }
            coming.append((table.dueTimes[index], index))
            guard table.dueTimes[index] <= now || source.wait?.reason == .host, !table.isRunning(index, running),
                let origin = declaration.firstOrigin
            else { continue }
            waiting[configuration.hosts.key(of: origin), default: []].append(table.names[index])
        }
        let due = coming.sorted { ($0.due, $0.index) < ($1.due, $1.index) }.prefix(most.due).map { item in
            view(table.sources[item.index], isRunning: table.isRunning(item.index, running))
        }
        let paused = Dictionary(
            pages.service.hostPauses.map { (configuration.hosts.key(of: $0.key), $0.value) },
            uniquingKeysWith: { max($0, $1) })
        let known = Dictionary(pages.service.hostActivity.map { ($0.key, $0) }) { first, _ in first }
        let keys = Set(known.keys).union(paused.keys).union(waiting.filter { known[$0.key] != nil }.keys)
        let hosts = keys.sorted().map { view($0, known[$0], until: paused[$0], waiting: waiting[$0] ?? []) }
        let daemons = table.daemons.map { daemons in
            daemons.records.map {
                ["name": $0.name, "startedAt": $0.startedAt, "sources": daemons.share(of: $0)] as View
            }
        }
        let hooks = table.hooks.map { view($0, mayChange: pages.mayChange) }
        let problems = table.hooks.count(where: \.isProblem)
        let templates = pages.templates
        return Page(
            title: "Daemon",
            fragments: [
                templates.fragment("hooks", ["hooks": hooks, "isEmpty": hooks.isEmpty]),
                templates.fragment("figures", pages.figures.view),
                templates.fragment("hosts", ["hosts": hosts, "isEmpty": hosts.isEmpty]),
                templates.fragment("daemons", ["daemons": daemons, "isEmpty": daemons?.isEmpty ?? true]),
                templates.fragment(
                    "due",
                    [
                        "sources": due, "count": coming.count,
                        "more": coming.count > due.count ? coming.count - due.count : nil, "isEmpty": due.isEmpty,
                        "line": DueLine(coming.map(\.due), now: now).svg,
                    ]),
            ], problems: problems, status: problems > 0 ? "A hook's events are not delivered." : "")
    }

    private static func view(_ status: HookStatus, mayChange: Bool) -> View {
        let (hook, state) = (status.hook, status.state)
        let attempts = state.flatMap { $0.attempts > 0 ? Figures.count($0.attempts, "attempt") : nil }
        return [
            "name": hook.name, "id": "hook-" + hook.name.percentEncoded, "state": status.word,
            "kind": status.isProblem ? "failing" : "ok",
            "events": hook.events.map(\.rawValue).sorted().joined(separator: ", "),
            "sources": hook.sources.isEmpty ? "all" : hook.sources.joined(separator: ", "),
            "position": state.map { "run \($0.position.run)" } ?? "–", "behind": status.behind,
            "deliveredAt": state?.deliveredAt,
            "attempts": attempts, "nextAttempt": state?.nextAttempt, "error": state?.error,
            // Where its event is sent again; nil where none has failed.
            "retry": status.isProblem && mayChange ? "/hooks/\(hook.name.percentEncoded)/retry" : nil,
        ]
    }

    private static func view(_ key: String, _ activity: HostActivity?, until: Date?, waiting: [String]) -> View {
        [
            "key": key, "requests": activity.map { "\($0.permits) of \($0.limit)" } ?? "0",
            "pace": activity?.pace.map { "one in \(RelativeTime.duration($0.seconds))" }, "until": until,
            "waiting": max(waiting.count, activity?.waiting ?? 0),
            "sources": View.sources(waiting, most: most.waiting),
        ]
    }

    private static func view(_ source: SourceStatus, isRunning: Bool) -> View {
        let name = source.state.source
        return [
            "id": "due-" + name.percentEncoded, "name": name, "address": PageAddress.path(name), "due": source.due.0,
            "isRunning": isRunning,
        ]
    }
}

extension HookStatus {
    fileprivate var isProblem: Bool { isGone || (state?.attempts ?? 0) > 0 }
}
