import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The page of one source: how it stands, what it may be told, its runs as plots and as a table, its requests.
struct SourcePage {
    /// What is shown of it.
    struct Options: Sendable {
        static let runCounts = [20, 100, 1_000]

        var period = Period.day
        var runs = 20

        init(_ query: Query) {
            period = query["period"].flatMap(Period.init) ?? .day
            runs = query["runs"].flatMap { Int($0) }.flatMap { Self.runCounts.contains($0) ? $0 : nil } ?? 20
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
    let templates: Templates

    /// Reads what the page shows; blocks its thread.
    ///
    /// - Returns: nil where there is no such source, declared or stored.
    /// - Throws: `StoreError`.
    init?(
        _ name: String, _ options: Options, in store: any MainStore, _ configuration: TributaryConfiguration,
        running: ActiveRuns.Entry?, templates: Templates, now: Date
    ) throws {
        let declaration = configuration[source: name]
        let states = try store.states(of: name)
        runs = try store.runs(of: name, failed: false, limit: options.runs)
        if declaration == nil, states.requests.isEmpty, runs.isEmpty { return nil }
        self.name = name
        self.options = options
        status = SourceStatus(
            declaration, states.source, among: try (store as? any SharedStore).map(SharedDaemons.init), now: now)
        requests = states.requests
        let first = try store.firstRun(of: name)
        let start = options.period.start(now: now, first: first)
        var timeline = Timeline(from: start, to: now, interval: declaration?.cache.seconds ?? 0, first: first)
        timeline.fill(try store.figures(of: name, from: timeline.start, spansOf: timeline.seconds))
        self.timeline = timeline
        let blocked = try states.source.isBlocked ? store.blockedRun(of: name) : nil
        blockedRun = blocked?.number
        blockedCounts = blocked.flatMap { configuration.blockedCounts(of: $0) }
        self.running = running
        redactor = configuration.redactor
        self.templates = templates
    }

    func page() -> Page {
        Page(
            title: name,
            fragments: [
                Fragment("state", templates.render("source", StateView(self))),
                Fragment("actions", templates.render("actions", ActionsView(self))),
                Fragment("plots", templates.render("plots", PlotsView(self))),
                Fragment("requests", templates.render("requests", RequestsView(self))),
                Fragment("runs", templates.render("runs", RunsView(self))),
            ])
    }
}

extension SourcePage {
    fileprivate struct StateView {
        struct Progress {
            var request: Int
            var requests: Int
            var bytes: String
            var received: Int
            var total: Int?
            var rows: Int
        }

        var standing: StandingView
        var lastRun: TimeView?
        var lastCommit: TimeView?
        var nextDue: TimeView?
        var dueWord: String?
        /// When it is refreshed, as it is declared; nil where its server decides.
        var schedule: String?
        var daemon: String?
        var error: String?
        var note: String?
        var since: TimeView?
        var progress: Progress?
        /// What has come of the last run, for those who listen.
        var outcome: String?

        init(_ page: SourcePage) {
            let status = page.status
            standing = StandingView(status, isRunning: page.running != nil || status.runner != nil)
            lastRun = status.state.lastRun.map(TimeView.init)
            lastCommit = status.state.lastCommit.map(TimeView.init)
            (nextDue, dueWord) = status.due
            schedule = status.declaration.flatMap { source in
                source.schedule.map { "at \($0.text) (\($0.timeZone))" }
                    ?? (source.hasOwnCache ? "every \(RelativeTime.duration(source.cache.seconds))" : nil)
            }
            daemon = status.runner ?? status.daemon
            error = status.state.error
            note = status.state.note
            since = page.running.map { TimeView($0.startedAt) }
            progress = page.running?.progress.map { progress in
                Progress(
                    request: progress.requestNumber, requests: progress.requestCount,
                    bytes: Figures.bytes(progress.bytes), received: progress.bytes, total: progress.totalBytes,
                    rows: progress.rows)
            }
            if page.running == nil, let last = page.runs.first {
                let changes = last.outcome == .committed ? ": \(Figures.changes(last))" : ""
                outcome = last.outcome.rawValue + changes
            }
        }
    }

    fileprivate struct ActionsView {
        var path: String
        var isDeclared: Bool
        var mayBeAccepted: Bool
        var blockedRun: Int64?
        var review: String?
        var does: String
        var mayBeResumed: Bool
        var keepsHistory: Bool
        var keepsBodies: Bool

        init(_ page: SourcePage) {
            path = PageAddress.path(page.name)
            isDeclared = page.status.declaration?.isEnabled == true
            blockedRun = page.blockedRun
            mayBeAccepted = isDeclared && blockedRun != nil
            let number = page.blockedRun ?? 0
            review = page.blockedCounts.map { _ in PageAddress.path(page.name, "/runs/\(number)") }
            does = page.blockedCounts.map(ReviewView.words) ?? "Accept run \(number)"
            mayBeResumed = isDeclared && page.status.state.isPaused
            keepsHistory = page.status.declaration?.keepsHistory == true
            keepsBodies = page.status.declaration?.keepsBodies == true
        }
    }

    fileprivate struct PlotsView {
        struct Choice {
            var name: String
            var address: String
            var isChosen: Bool
        }

        struct Chart {
            var title: String
            var svg: String
            var legend: [Legend]
        }

        struct Legend {
            var name: String
            var kind: String
        }

        struct Row {
            var start: TimeView
            var runs: Int
            var failed: Int
            var inserted: Int
            var updated: Int
            var deleted: Int
            var bytes: String
            var seconds: String
        }

        var periods: [Choice]
        var charts: [Chart]
        var rows: [Row]

        init(_ page: SourcePage) {
            periods = Period.allCases.map {
                Choice(
                    name: $0.name, address: page.options.address(page.name, period: $0),
                    isChosen: $0 == page.options.period)
            }
            charts = BarChart.all(page.timeline).map { chart in
                Chart(
                    title: chart.title, svg: chart.svg,
                    legend: chart.series.count < 2 ? [] : chart.series.map { Legend(name: $0.name, kind: $0.kind) })
            }
            let timeline = page.timeline
            rows = timeline.spans.compactMap { $0 }.reversed().map { figures in
                Row(
                    start: TimeView(timeline.start(of: figures.span)), runs: figures.runs, failed: figures.failed,
                    inserted: figures.inserted, updated: figures.updated, deleted: figures.deleted,
                    bytes: Figures.bytes(figures.bytes), seconds: Figures.seconds(figures.seconds))
            }
        }
    }

    fileprivate struct RequestsView {
        struct Row {
            var key: String
            var address: String?
            var status: String
            var outcome: String?
            var etag: String?
            var lastModified: String?
            var tables: String
            var movedTo: String?
        }

        var rows: [Row]

        init(_ page: SourcePage) {
            let declared = page.status.declaration?.requests ?? []
            let keys = declared.map(\.key)
            let others = page.requests.keys.filter { !keys.contains($0) }.sorted()
            rows = (keys + others).map { key in
                let state = page.requests[key]
                // The last run may have ended before it came to the request.
                let report = page.runs.lazy.flatMap(\.requests).first { $0.key == key && $0.outcome != .skipped }
                return Row(
                    key: key,
                    address: declared.first { $0.key == key }.map { page.redactor.redact("\($0.method) \($0.url)") },
                    status: report?.status.map(String.init) ?? "–", outcome: report?.outcome.rawValue,
                    etag: state?.validators.etag, lastModified: state?.validators.lastModified,
                    tables: state.map { $0.tables.sorted().joined(separator: ", ") } ?? "",
                    movedTo: state?.movedTo.map(page.redactor.redact))
            }
        }
    }

    fileprivate struct RunsView {
        struct Choice {
            var count: Int
            var address: String
            var isChosen: Bool
        }

        var rows: [RunRowView]
        var counts: [Choice]

        init(_ page: SourcePage) {
            rows = page.runs.map(RunRowView.init)
            counts = Options.runCounts.map {
                Choice(
                    count: $0, address: page.options.address(page.name, runs: $0) + "#runs",
                    isChosen: $0 == page.options.runs)
            }
        }
    }
}
