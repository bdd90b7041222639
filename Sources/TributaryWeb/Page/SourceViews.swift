import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// What the templates of a source's page show.
extension SourcePage {
    struct StateView {
        struct Progress {
            var request: Int
            var requests: Int
            var bytes: String
            var received: Int
            var total: Int?
            /// Nil as long as no row is known.
            var rows: String?
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
        var note: Sentence?
        var since: TimeView?
        var progress: Progress?
        /// The outcome of the last run, for screen readers.
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
            // A link leads to the page whose button does what the error advises.
            error = status.state.error.map { page.blockedRun == nil ? $0 : AcceptAdvice.removed(from: $0) }
            note = status.state.note.map { Sentence($0, due: status.state.nextDue) }
            since = page.running.map { TimeView($0.startedAt) }
            progress = page.running?.progress.map { progress in
                Progress(
                    request: progress.requestNumber, requests: progress.requestCount,
                    bytes: Figures.bytes(progress.bytes), received: progress.bytes, total: progress.totalBytes,
                    rows: progress.rows > 0 ? Figures.count(progress.rows, "row") : nil)
            }
            if page.running == nil, let last = page.runs.first {
                let changes = last.outcome == .committed ? ": \(Figures.changes(last, number: \.grouped))" : ""
                outcome = last.outcome.rawValue + changes
            }
        }
    }

    struct ActionsView {
        var path: String
        var mayChange: Bool
        var isDeclared: Bool
        /// Where the blocked run is reviewed.
        var review: Layout.Link?
        var mayBeRefreshed: Bool
        var mayBePaused: Bool
        var mayBeResumed: Bool
        var keepsHistory: Bool
        var keepsBodies: Bool

        init(_ page: SourcePage) {
            path = PageAddress.path(page.name)
            mayChange = page.mayChange
            isDeclared = page.status.declaration?.isEnabled == true
            review = page.blockedRun.map { number in
                Layout.Link(
                    name: "Review run \(number)"
                        + (page.blockedCounts.map { ": " + ReviewView.words($0) } ?? ""),
                    address: PageAddress.path(page.name, "/runs/\(number)"))
            }
            mayBeRefreshed = isDeclared && !page.status.state.isStopped
            mayBePaused = isDeclared && !page.status.state.isPaused
            mayBeResumed = isDeclared && page.status.state.isPaused
            keepsHistory = page.status.declaration?.keepsHistory == true
            keepsBodies = page.status.declaration?.keepsBodies == true
        }
    }

    struct RowsView {
        struct Table {
            var name: String
            /// Nil where its rows are not shown.
            var address: String?
        }

        var tables: [Table]
        var hasTables: Bool
        var rows: String?
        var run: RunRowView?
        var changes: [ChangeView]
        var changed: String?

        init(_ page: SourcePage) {
            let names = Set(page.requests.values.flatMap(\.tables)).sorted()
            tables = names.map { Table(name: $0, address: page.showsRows ? "/tables/" + $0.percentEncoded : nil) }
            hasTables = !names.isEmpty
            rows = page.rows.map { "\($0.grouped) row\($0 == 1 ? "" : "s")" }
            run = page.lastChange.map { RunRowView($0.run) }
            changes = page.lastChange?.changes?.changes ?? []
            changed = page.lastChange.map { Figures.changes($0.run, number: \.grouped) }
        }
    }

    struct PlotsView {
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
            var inserted: String
            var updated: String
            var deleted: String
            var bytes: String
            var seconds: String
        }

        var periods: [Choice]
        /// Nil where nothing has run.
        var chart: Chart?
        var rows: [Row]

        init(_ page: SourcePage) {
            periods = Period.allCases.map {
                Choice(
                    name: $0.name, address: page.options.address(page.name, period: $0),
                    isChosen: $0 == page.options.period)
            }
            let chart = BarChart.changes(page.timeline)
            self.chart =
                page.runs.isEmpty
                ? nil
                : Chart(
                    title: chart.title, svg: chart.svg,
                    legend: chart.series.map { Legend(name: $0.name, kind: $0.kind) })
            let timeline = page.timeline
            rows = timeline.spans.compactMap { $0 }.reversed().map { figures in
                Row(
                    start: TimeView(timeline.start(of: figures.span)), runs: figures.runs, failed: figures.failed,
                    inserted: figures.inserted.grouped, updated: figures.updated.grouped,
                    deleted: figures.deleted.grouped,
                    bytes: Figures.bytes(figures.bytes), seconds: Figures.seconds(figures.seconds))
            }
        }
    }

    struct RequestsView {
        struct Row {
            var key: String
            var address: String?
            var options: String?
            var status: String
            var outcome: String?
            var etag: String?
            var lastModified: String?
            var tables: String
            var movedTo: String?
        }

        /// The most requests that are shown.
        private static let most = 200

        var rows: [Row]
        /// The number of requests that are not shown.
        var more: String?

        init(_ page: SourcePage) {
            let requests = page.status.declaration?.requests ?? []
            let keys = requests.map(\.key)
            let declared = Dictionary(requests.map { ($0.key, $0) }) { first, _ in first }
            let all = keys + page.requests.keys.filter { declared[$0] == nil }.sorted()
            more = all.count > Self.most ? (all.count - Self.most).grouped : nil
            rows = all.prefix(Self.most).map { key in
                let state = page.requests[key]
                // The last run may have ended before it came to the request.
                let report = page.runs.lazy.flatMap(\.requests).first { $0.key == key && $0.outcome != .skipped }
                return Row(
                    key: key,
                    address: declared[key].map { page.redactor.redact("\($0.method) \($0.url.template.shownAddress)") },
                    options: declared[key].map(\.shownOptions).flatMap { $0.isEmpty ? nil : $0 },
                    status: report?.status.map(String.init) ?? "–", outcome: report?.outcome.rawValue,
                    etag: state?.validators.etag, lastModified: state?.validators.lastModified,
                    tables: state.map { $0.tables.sorted().joined(separator: ", ") } ?? "",
                    movedTo: state?.movedTo.map { page.redactor.redact($0.shownAddress) })
            }
        }
    }

    struct RunsView {
        struct Choice {
            var count: Int
            var address: String
            var isChosen: Bool
        }

        /// A run, or several that came to the same.
        struct Row {
            var run: RunRowView?
            var fold: Fold?
        }

        struct Fold {
            var id: String
            var title: String
            var from: TimeView
            var to: TimeView
            var runs: [RunRowView]
        }

        /// The least runs that are folded.
        private static let least = 3

        var rows: [Row]
        var counts: [Choice]

        init(_ page: SourcePage) {
            let folds = RunFold.folds(page.runs) {
                $0.outcome == .unchanged && $0.kind == nil ? "" : "\($0.number ?? 0)"
            }
            rows = folds.flatMap { runs -> [Row] in
                let views = runs.map {
                    RunRowView($0, blocked: $0.number == page.blockedRun ? page.blockedCounts : nil)
                }
                guard runs.count >= Self.least, let first = views.last, let last = views.first else {
                    return views.map { Row(run: $0) }
                }
                let polls = runs.reduce(0) { $0 + $1.polls }
                return [
                    Row(
                        fold: Fold(
                            id: "fold-\(first.number)", title: "\(polls.grouped) unchanged runs", from: first.startedAt,
                            to: last.lastPoll ?? last.startedAt, runs: views))
                ]
            }
            counts = Options.runCounts.map {
                Choice(
                    count: $0, address: page.options.address(page.name, runs: $0) + "#runs",
                    isChosen: $0 == page.options.runs)
            }
        }
    }
}
