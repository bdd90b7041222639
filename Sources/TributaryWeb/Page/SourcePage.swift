import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The page of one source: its state and actions, its tables and last changes, plots, runs, requests and declaration.
struct SourcePage {
    /// What is shown of it.
    struct Options: Sendable {
        static let runCounts = [20, 100, 1_000]

        var period = Period.all
        var runs = 20

        /// - Throws: ``Query/Problem``.
        init(_ query: Query) throws {
            period = try query.choice("period") ?? .all
            runs = try query.choice("runs", among: Self.runCounts.map(String.init)).flatMap { Int($0) } ?? 20
        }

        func address(_ source: String, period: Period? = nil, runs: Int? = nil) -> String {
            PageAddress.path(source, "?period=\((period ?? self.period).rawValue)&runs=\(runs ?? self.runs)")
        }
    }

    let name: String
    let options: Options
    let status: SourceStatus
    let requests: [String: RequestState]
    let runs: [RunReport]
    let timeline: Timeline
    /// The run that waits to be accepted.
    let blockedRun: Int64?
    /// The counts of what that run would change; nil where they are not known.
    let blockedCounts: MergeCounts?
    let running: ActiveRuns.Entry?
    let redactor: Redactor
    /// The last run that changed rows, as far as it is among the shown ones, and the first of its changes where rows
    /// are shown.
    let lastChange: (run: RunReport, changes: RunChanges?)?
    /// The rows of the documents of the last commit.
    let rows: Int?
    let declaration: View
    /// The pages as somebody sees them.
    let pages: Pages

    /// Reads what the page shows; blocks its thread.
    ///
    /// - Returns: nil where there is no such source, declared or stored.
    /// - Throws: `StoreError`.
    init?(
        _ name: String, _ options: Options, of store: any MainStore, _ configuration: TributaryConfiguration,
        in pages: Pages, now: Date
    ) throws {
        running = pages.service.activeRuns[source: name]
        let declaration = configuration[source: name]
        let states = try store.states(of: name)
        runs = try store.read { try $0.runs.last(of: name, limit: options.runs) }
        if declaration == nil, states.requests.isEmpty, runs.isEmpty { return nil }
        self.name = name
        self.options = options
        status = try StoreStatus.source(
            declaration, states.source, configuration, in: store, pauses: pages.service.hostPauses, now: now)
        requests = states.requests
        let first = try store.read { try $0.runs.firstBeginning(of: name) }
        let start = options.period.start(now: now, first: first)
        var timeline = Timeline(
            from: start, to: now, interval: declaration?.cache.seconds ?? 0, first: first,
            due: states.source.nextDue)
        timeline.fill(try store.read { try $0.runs.figures(of: name, from: timeline.start, spansOf: timeline.seconds) })
        self.timeline = timeline
        let blocked = try states.source.isBlocked ? store.read { try $0.runs.blocked(of: name) } : nil
        blockedRun = blocked?.number
        blockedCounts = blocked.flatMap { configuration.blockedCounts(of: $0) }
        self.pages = pages
        let changing = runs.first { run in
            run.outcome == .committed && run.counts.changed > 0
        }
        lastChange = try changing.flatMap { run in
            try run.number.map { number in
                (
                    run,
                    pages.showsRows
                        ? try RunChanges(number, ChangePart(), limit: Self.mostChanges, of: 0, in: store) : nil
                )
            }
        }
        rows = try store.read {
            try $0.runs.recent(
                of: [(name, states.source.lastCommit)], limit: 1, changedSince: now)
        }[name]?.rows
        self.declaration = declaration?.view(in: configuration.place("sources", name).file) ?? [:]
        redactor = configuration.redactor
    }

    /// The most changes of the last run that are shown.
    private static let mostChanges = 10

    func page() -> Page {
        let templates = pages.templates
        return Page(
            title: name,
            fragments: [
                Fragment("state", templates.render("source", state)),
                templates.fragment("actions", actions),
                templates.fragment("rows", lastRows),
                templates.fragment("plots", plots),
                templates.fragment("runs", runList),
                templates.fragment("requests", requestList),
                templates.fragment("declaration", declaration),
            ], problems: status.isProblem ? 1 : 0,
            status: "\(name) is \(status.condition.rawValue)" + (running == nil ? "." : ", and running."))
    }
}
