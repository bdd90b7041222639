import FeedDeclarations
import FeedFetching
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The page of what goes on: hooks, daemons, hosts, and the sources that are due within the hour.
struct DaemonPage {
    static let path = "/daemon"
    /// The most sources that are due, and of those that wait at a host, that are named.
    private static let most = (due: 100, waiting: 5)

    private let hooks: [HookView]
    private let daemons: [DaemonView]
    private let hosts: [HostView]
    private let due: [DueView]
    private let dueCount: Int
    private let templates: Templates

    init(
        table: SourceTable, _ configuration: TributaryConfiguration, hosts: [HostActivity], pauses: [Origin: Date],
        running: Set<String>, mayChange: Bool, templates: Templates, now: Date
    ) {
        self.templates = templates
        hooks = table.hooks.map { HookView($0, mayChange: mayChange) }
        daemons = table.daemons.map { daemons in daemons.records.map { DaemonView($0, daemons) } } ?? []
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
        dueCount = coming.count
        due = coming.sorted { ($0.due, $0.index) < ($1.due, $1.index) }.prefix(Self.most.due).map { item in
            DueView(table.sources[item.index], isRunning: table.isRunning(item.index, running))
        }
        let paused = Dictionary(
            pauses.map { (configuration.hosts.key(of: $0.key), $0.value) }, uniquingKeysWith: { max($0, $1) })
        let known = Dictionary(hosts.map { ($0.key, $0) }) { first, _ in first }
        let keys = Set(known.keys).union(paused.keys).union(waiting.filter { known[$0.key] != nil }.keys)
        self.hosts = keys.sorted().map { key in
            HostView(key, known[key], until: paused[key], waiting: waiting[key] ?? [], most: Self.most.waiting)
        }
    }

    func page() -> Page {
        Page(
            title: "Daemon",
            fragments: [
                Fragment("hooks", templates.render("hooks", HooksView(hooks: hooks, isEmpty: hooks.isEmpty))),
                Fragment("hosts", templates.render("hosts", HostsView(hosts: hosts, isEmpty: hosts.isEmpty))),
                Fragment(
                    "daemons", templates.render("daemons", DaemonsView(daemons: daemons, isEmpty: daemons.isEmpty))),
                Fragment(
                    "due",
                    templates.render(
                        "due",
                        DuesView(
                            sources: due, count: dueCount, more: dueCount > due.count ? dueCount - due.count : nil,
                            isEmpty: due.isEmpty))),
            ], problems: hooks.count(where: \.isProblem),
            status: hooks.contains(where: \.isProblem) ? "A hook's events are not delivered." : "")
    }
}

extension DaemonPage {
    fileprivate struct HooksView {
        var hooks: [HookView]
        var isEmpty: Bool
    }

    fileprivate struct HookView {
        var name: String
        var id: String
        var state: String
        var kind: String
        var events: String
        var sources: String
        var position: String
        var behind: Int
        var deliveredAt: TimeView?
        var attempts: String?
        var nextAttempt: TimeView?
        var error: String?
        /// Where its event is sent again; nil where none has failed.
        var retry: String?
        var isProblem: Bool

        init(_ status: HookStatus, mayChange: Bool) {
            name = status.hook.name
            id = "hook-" + name.percentEncoded
            state = status.word
            events = status.hook.events.map(\.rawValue).sorted().joined(separator: ", ")
            sources = status.hook.sources.isEmpty ? "all" : status.hook.sources.joined(separator: ", ")
            position = status.state.map { "run \($0.position.run)" } ?? "–"
            behind = status.behind
            deliveredAt = status.state?.deliveredAt.map(TimeView.init)
            attempts = status.state.flatMap { $0.attempts > 0 ? Figures.count($0.attempts, "attempt") : nil }
            nextAttempt = status.state?.nextAttempt.map(TimeView.init)
            error = status.state?.error
            isProblem = attempts != nil || status.isGone
            kind = isProblem ? "failing" : "ok"
            retry = isProblem && mayChange ? "/hooks/\(name.percentEncoded)/retry" : nil
        }
    }

    fileprivate struct DaemonsView {
        var daemons: [DaemonView]
        var isEmpty: Bool
    }

    fileprivate struct DaemonView {
        var name: String
        var startedAt: TimeView
        var sources: Int

        init(_ record: DaemonRecord, _ daemons: SharedDaemons) {
            name = record.name
            startedAt = TimeView(record.startedAt)
            sources = daemons.share(of: record)
        }
    }

    fileprivate struct HostsView {
        var hosts: [HostView]
        var isEmpty: Bool
    }

    fileprivate struct HostView {
        var key: String
        var requests: String
        var pace: String?
        var until: TimeView?
        var waiting: Int
        var sources: SourceLinks

        init(_ key: String, _ activity: HostActivity?, until: Date?, waiting: [String], most: Int) {
            self.key = key
            requests = activity.map { "\($0.permits) of \($0.limit)" } ?? "0"
            pace = activity?.pace.map { "one in \(RelativeTime.duration($0.seconds))" }
            self.until = until.map(TimeView.init)
            self.waiting = max(waiting.count, activity?.waiting ?? 0)
            sources = SourceLinks(waiting, most: most)
        }
    }

    fileprivate struct DuesView {
        var sources: [DueView]
        var count: Int
        var more: Int?
        var isEmpty: Bool
    }

    fileprivate struct DueView {
        var id: String
        var name: String
        var address: String
        var due: TimeView?
        var isRunning: Bool

        init(_ source: SourceStatus, isRunning: Bool) {
            name = source.state.source
            id = "due-" + name.percentEncoded
            address = PageAddress.path(name)
            due = source.due.0
            self.isRunning = isRunning
        }
    }
}
