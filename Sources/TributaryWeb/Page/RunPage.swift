import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The page of one run: its figures, its requests, and the rows that it has changed, from what to what.
struct RunPage {
    private static let rowsPerPage = ReviewView.rowsPerPage
    /// The most records that are shown of those that the run has left out, and the most characters of one.
    private static let (mostRejected, longestRecord) = (50, 1_000)
    /// The most rows that are passed over. All of them are printed by `changes`.
    static let mostPassed = 10_000

    let run: RunReport
    let part: ChangePart
    /// Nil where rows are not shown.
    let changes: RunChanges?
    /// The first records that it has left out.
    let rejected: [RejectedRow]
    /// The tables of its source.
    let tables: [String]
    let neighbours: (previous: Int64?, next: Int64?)
    /// The state of a blocked run; nil for other runs.
    let blocked: BlockedRunState?
    /// The counts of the rows that a blocked run would have changed; nil if unknown.
    private let blockedCounts: MergeCounts?
    /// Nil where its source is no longer declared.
    let declaration: SourceDeclaration?
    /// True where a later run of its source has changed rows.
    let hasLaterChange: Bool
    /// The pages as somebody sees them.
    let pages: Pages

    /// Reads what the page shows; blocks its thread.
    ///
    /// - Returns: nil where the source has no such run.
    /// - Throws: `StoreError`.
    init?(
        _ source: String, _ number: Int64, _ part: ChangePart, of store: any MainStore,
        _ configuration: TributaryConfiguration, in pages: Pages
    ) throws {
        guard let run = try store.read({ try $0.runs.run(number) }), run.source == source else { return nil }
        self.run = run
        self.pages = pages
        let from = min(part.from, Self.mostPassed)
        self.part = part.with { $0.from = from }
        let following = try store.read { try $0.runs.following(number, of: source) }
        blockedCounts = configuration.blockedCounts(of: run)
        blocked = try BlockedRunState(run, next: following.refresh, in: store, configuration)
        declaration = configuration[source: source]
        hasLaterChange = following.change != nil
        changes =
            try !pages.showsRows
            ? nil
            : RunChanges(
                number, self.part, limit: Self.rowsPerPage,
                of: run.counts.changed, in: store)
        rejected =
            try !pages.showsRows
            ? [] : store.read { try $0.rejections.records(run: number, limit: Self.mostRejected + 1) }
        tables = Set(try store.states(of: source).requests.values.flatMap(\.tables)).sorted()
        neighbours = try store.read { try $0.runs.neighbours(of: number, of: source) }
    }

    private var isEnabled: Bool { declaration?.isEnabled == true }

    /// Returns the address of a part of the run's changes.
    private func address(_ part: ChangePart, _ suffix: String = "") -> String {
        Query(part.values).address(PageAddress.path(run.source, "/runs/\(run.number ?? 0)\(suffix)"))
    }

    /// - Parameter waiting: the run that waits to be accepted with these changes.
    private func view(_ review: ChangeReview, _ waiting: Int64) -> View {
        var view = ReviewView.view(
            review, part, showsRows: changes != nil,
            action: pages.mayChange && isEnabled ? PageAddress.path(run.source, "/accept?run=\(waiting)") : nil,
            promise: "The button makes exactly these changes. If the store has changed since, it makes none, and the "
                + "run is blocked again.",
            address: address)
        if review.unchanged != nil { view["size"] = SizeBars(review.total) }
        if waiting != run.number {
            view.note("Run \(waiting) had the same documents, and waits to be accepted in place of this run.")
        }
        if !isEnabled { view["instead"] = "The source is disabled (enabled = false), so the run cannot be accepted." }
        view["refusal"] =
            "To reject these changes, do nothing. The source is fetched again when it is due, and the next feed within "
            + "the limits is committed."
        return view
    }

    func page() -> Page {
        let changes =
            switch blocked {
            case .waiting(let review, let waiting)?:
                pages.templates.fragment("review", view(review, waiting))
            default: pages.templates.fragment("changes", changesView)
            }
        return Page(
            title: "Run \(run.number ?? 0) of \(run.source)",
            fragments: [pages.templates.fragment("run", summary), changes])
    }

    /// Where the source's rows are brought back to it, or to those before it.
    private var undo: Link? {
        guard pages.mayChange, declaration?.keepsHistory == true, run.outcome == .committed, run.kind != .purge else {
            return nil
        }
        if hasLaterChange {
            return Link(
                name: "Restore the rows to this run …",
                address: PageAddress.path(run.source, "/undo?to=\(run.number ?? 0)"))
        }
        let counts = run.counts
        let hasChanges = counts.changed > 0 || run.restoredRun != nil
        guard hasChanges else { return nil }
        return Link(
            name: "Undo this run …",
            address: PageAddress.path(run.source, "/undo" + (neighbours.previous.map { "?to=\($0)" } ?? "")))
    }

    private var summary: View {
        func path(_ run: Int64) -> String { PageAddress.path(self.run.source, "/runs/\(run)") }
        let requests: [View] = run.requests.map {
            [
                "key": $0.key, "status": $0.status.map(String.init) ?? "–", "outcome": $0.outcome.rawValue,
                "bytes": Figures.bytes($0.bytes), "seconds": Figures.seconds($0.seconds),
            ]
        }
        let remarks = run.requests.compactMap { request in request.note.map { "request '\(request.key)': \($0)" } }
        let left: [View] = rejected.prefix(Self.mostRejected).map { row in
            [
                "request": row.record.request, "reason": row.record.reason,
                "record": row.record.record.shortened(to: Self.longestRecord),
            ]
        }
        return [
            "run": run.view(blocked: blockedCounts), "requests": requests, "remarks": remarks, "undo": undo,
            "note": run.rejection, "rejected": left, "hasRejected": !left.isEmpty,
            "allRejected": rejected.isEmpty ? nil : "/api/rejected?run=\(run.number ?? 0)",
            "hasMoreRejected": rejected.count > Self.mostRejected, "mostRejected": Self.mostRejected,
            "previous": neighbours.previous.map(path), "next": neighbours.next.map(path),
        ]
    }

    private var changesView: View {
        let shown = changes?.changes ?? []
        let from = part.from
        func starting(from: Int) -> String { address(part.with { $0.from = from }) }
        var filters = changes == nil ? [] : part.filters(run.counts) { address($0) }
        let hasFilters = !filters.isEmpty
        for table in tables where tables.count > 1 && hasFilters {
            let isChosen = part.table == table
            let own = part.with { ($0.from, $0.table) = (0, isChosen ? nil : table) }
            filters.append(["name": table, "address": address(own), "isChosen": isChosen])
        }
        let formats =
            changes?.hasHistory == true && hasFilters
            ? FileFormat.links { address(part.with { $0.from = 0 }, $0) } : []
        let following = from + Self.rowsPerPage
        let hasMore = changes?.hasMore == true
        let isCut = changes?.isCut == true
        let hasNext = hasMore && following <= Self.mostPassed
        let isRest = hasMore && !hasNext || isCut
        let isAll = changes?.hasHistory != true || !isRest
        let lacksHistory = changes?.hasHistory == false && !shown.isEmpty
        let blocked: View? = if case .over(let view)? = blocked { view } else { nil }
        let (first, last, former) = (from + 1, from + shown.count, max(0, from - Self.rowsPerPage))
        return [
            "blocked": blocked, "filters": filters, "hasFilters": hasFilters, "formats": formats, "changes": shown,
            "isEmpty": shown.isEmpty, "off": changes == nil ? Pages.rowsAreOff : nil, "lacksHistory": lacksHistory,
            "first": first, "last": last, "previous": from > 0 ? starting(from: former) : nil,
            "next": hasNext ? starting(from: following) : nil,
            "command": isAll ? nil : "tributary changes --run \(run.number ?? 0)",
            "searched": isCut ? RunChanges.mostSearched.grouped : nil,
        ]
    }
}
