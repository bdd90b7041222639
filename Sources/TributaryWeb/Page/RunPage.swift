import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import Ledger
import TributaryEngine

/// The page of one run: its figures, its requests, and the rows that it has changed, from what to what.
struct RunPage {
    private static let rowsPerPage = ReviewView.rowsPerPage
    /// The most rows that are passed over. All of them are printed by `changes`.
    static let mostPassed = 10_000

    let run: RunReport
    let part: ReviewView.Part
    /// Nil where rows are not shown.
    let changes: RunChanges?
    /// The tables of its source.
    let tables: [String]
    let neighbours: (previous: Int64?, next: Int64?)
    /// The state of a blocked run; nil for other runs.
    let blocked: BlockedRunState?
    /// The counts of the rows that a blocked run would have changed; nil if unknown.
    private let blockedCounts: MergeCounts?
    /// True where its source is declared, and switched on.
    let isEnabled: Bool
    /// True where its source keeps what an undo needs.
    let keepsHistory: Bool
    /// True where a later run of its source has changed rows.
    let hasLaterChange: Bool
    /// False where nobody who sees the page may press a button.
    let mayChange: Bool
    let templates: Templates

    /// Reads what the page shows; blocks its thread.
    ///
    /// - Returns: nil where the source has no such run.
    /// - Throws: `StoreError`.
    init?(
        _ source: String, _ number: Int64, _ part: ReviewView.Part, in store: any MainStore,
        _ configuration: TributaryConfiguration, showsRows: Bool, mayChange: Bool, templates: Templates
    ) throws {
        guard let run = try store.read({ try $0.runs.run(number) }), run.source == source else { return nil }
        self.run = run
        self.mayChange = mayChange
        self.templates = templates
        let from = min(part.from, Self.mostPassed)
        self.part = part.with { $0.from = from }
        let following = try store.read { try $0.runs.following(number, of: source) }
        blockedCounts = configuration.blockedCounts(of: run)
        blocked = try BlockedRunState(run, next: following.refresh, in: store, configuration)
        isEnabled = configuration[source: source]?.isEnabled == true
        keepsHistory = configuration[source: source]?.keepsHistory == true
        hasLaterChange = following.change != nil
        changes =
            try !showsRows
            ? nil
            : RunChanges(
                number,
                RunChanges.Part(table: part.table, operation: part.operation, from: from, limit: Self.rowsPerPage),
                of: run.counts.inserted + run.counts.updated + run.counts.deleted, in: store)
        tables = Set(try store.states(of: source).requests.values.flatMap(\.tables)).sorted()
        neighbours = try store.read { try $0.runs.neighbours(of: number, of: source) }
    }

    /// Returns the address of a part of the run's changes.
    private func address(_ part: ReviewView.Part, _ suffix: String = "") -> String {
        PageAddress.path(run.source, "/runs/\(run.number ?? 0)\(suffix)")
            + (part.items.isEmpty ? "" : "?" + part.items.joined(separator: "&"))
    }

    /// - Parameter waiting: the run that waits to be accepted with these changes.
    private func view(_ review: ChangeReview, _ waiting: Int64) -> ReviewView {
        var view = ReviewView(
            review, part, showsRows: changes != nil,
            action: mayChange && isEnabled ? PageAddress.path(run.source, "/accept?run=\(waiting)") : nil,
            promise: "The button makes exactly these changes. If the store has changed since, it makes none, and the "
                + "run is blocked again.",
            address: address)
        if waiting != run.number {
            view.notes.append("Run \(waiting) had the same documents, and waits to be accepted in place of this run.")
        }
        if !isEnabled { view.instead = "The source is disabled (enabled = false), so the run cannot be accepted." }
        view.refusal =
            "To reject these changes, do nothing. The source is fetched again when it is due, and the next feed within "
            + "the limits is committed."
        return view
    }

    func page() -> Page {
        let changes =
            switch blocked {
            case .waiting(let review, let waiting)?:
                Fragment("review", templates.render("review", view(review, waiting)))
            default: Fragment("changes", templates.render("changes", ChangesView(self)))
            }
        return Page(
            title: "Run \(run.number ?? 0) of \(run.source)",
            fragments: [Fragment("run", templates.render("run", SummaryView(self))), changes])
    }
}

extension RunPage {
    fileprivate struct SummaryView {
        struct Request {
            var key: String
            var status: String
            var outcome: String
            var bytes: String
            var seconds: String
        }

        var run: RunRowView
        var requests: [Request]
        /// Where the source's rows are brought back to it, or to those before it.
        var undo: Layout.Link?
        var previous: String?
        var next: String?

        init(_ page: RunPage) {
            run = RunRowView(page.run, blocked: page.blockedCounts)
            func path(_ run: Int64) -> String { PageAddress.path(page.run.source, "/runs/\(run)") }
            previous = page.neighbours.previous.map(path)
            next = page.neighbours.next.map(path)
            let counts = page.run.counts
            let hasChanges = counts.inserted + counts.updated + counts.deleted > 0 || page.run.restoredRun != nil
            if page.mayChange, page.keepsHistory, page.run.outcome == .committed, page.run.kind != .purge {
                if page.hasLaterChange {
                    undo = Layout.Link(
                        name: "Restore the rows to this run …",
                        address: PageAddress.path(page.run.source, "/undo?to=\(page.run.number ?? 0)"))
                } else if hasChanges {
                    undo = Layout.Link(
                        name: "Undo this run …",
                        address: PageAddress.path(
                            page.run.source, "/undo" + (page.neighbours.previous.map { "?to=\($0)" } ?? "")))
                }
            }
            requests = page.run.requests.map {
                Request(
                    key: $0.key, status: $0.status.map(String.init) ?? "–", outcome: $0.outcome.rawValue,
                    bytes: Figures.bytes($0.bytes), seconds: Figures.seconds($0.seconds))
            }
        }
    }

    fileprivate struct ChangesView {
        /// The state of a blocked run.
        var blocked: BlockedRunView?
        var filters: [ReviewView.Filter]
        var hasFilters: Bool
        var formats: [Layout.Link]
        var changes: [ChangeView]
        var isEmpty: Bool
        /// The reason why no row is shown.
        var off: String?
        var lacksHistory: Bool
        var first: Int
        var last: Int
        var previous: String?
        var next: String?
        var command: String?
        /// The number of changes that were searched; nil for all.
        var searched: String?

        init(_ page: RunPage) {
            let shown = page.changes
            changes = shown?.changes ?? []
            isEmpty = changes.isEmpty
            off = shown == nil ? Pages.rowsAreOff : nil
            lacksHistory = shown?.hasHistory == false && !changes.isEmpty
            let from = page.part.from
            first = from + 1
            last = from + changes.count
            func address(_ change: (inout ReviewView.Part) -> Void) -> String { page.address(page.part.with(change)) }
            func starting(from: Int) -> String { address { $0.from = from } }
            blocked = page.blocked.flatMap { BlockedRunView($0, of: page.run.source) }
            var filters = shown == nil ? [] : page.part.filters(page.run.counts) { page.address($0) }
            hasFilters = !filters.isEmpty
            for table in page.tables where page.tables.count > 1 && hasFilters {
                let isChosen = page.part.table == table
                filters.append(
                    ReviewView.Filter(
                        name: table, address: address { ($0.from, $0.table) = (0, isChosen ? nil : table) },
                        isChosen: isChosen))
            }
            self.filters = filters
            formats =
                shown?.hasHistory == true && hasFilters
                ? [ChangeFileFormat.csv, .json].map {
                    Layout.Link(
                        name: $0.rawValue.uppercased(),
                        address: page.address(page.part.with { $0.from = 0 }, "." + $0.rawValue))
                } : []
            previous = from > 0 ? starting(from: max(0, from - RunPage.rowsPerPage)) : nil
            let following = from + RunPage.rowsPerPage
            let hasMore = shown?.hasMore == true
            next = hasMore && following <= RunPage.mostPassed ? starting(from: following) : nil
            let isRest = hasMore && following > RunPage.mostPassed || shown?.isCut == true
            command = shown?.hasHistory == true && isRest ? "tributary changes --run \(page.run.number ?? 0)" : nil
            searched = shown?.isCut == true ? RunChanges.mostSearched.grouped : nil
        }
    }
}
