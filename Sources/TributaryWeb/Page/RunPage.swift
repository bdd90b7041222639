import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The page of one run: its figures, its requests, and the rows that it has changed, from what to what.
struct RunPage {
    private static let rowsPerPage = ReviewView.rowsPerPage
    /// The most rows that are passed over. All of them are printed by `changes`.
    static let mostPassed = 10_000

    let run: RunReport
    let part: ReviewView.Part
    let changes: [ChangeView]
    let hasHistory: Bool
    let hasMore: Bool
    /// The changes that it waits to make; nil where it does not, or where they are not known.
    let review: ChangeReview?
    /// True where its source's rows can be brought back to it.
    let mayBeRestored: Bool
    let templates: Templates

    /// Reads what the page shows; blocks its thread.
    ///
    /// - Returns: nil where the source has no such run.
    /// - Throws: `StoreError`.
    init?(
        _ source: String, _ number: Int64, _ part: ReviewView.Part, in store: any MainStore,
        _ configuration: TributaryConfiguration, templates: Templates
    ) throws {
        guard let run = try store.recordedRun(number), run.source == source else { return nil }
        self.run = run
        self.templates = templates
        let from = min(part.from, Self.mostPassed)
        self.part = part.with { $0.from = from }
        review =
            try configuration[source: source]?.isEnabled == true && store.blockedRun(of: source)?.number == number
            ? configuration.review(of: run) : nil
        mayBeRestored = run.outcome == .committed && configuration[source: source]?.keepsHistory == true
        hasHistory = try store.hasHistory(run: number)
        var found: [ChangeView] = []
        if hasHistory {
            var query = ChangeQuery(run: number, table: part.table)
            query.passedOver = from
            try store.changes(query) { change in
                found.append(ChangeView(change, id: "change-\(found.count)"))
                return found.count <= Self.rowsPerPage
            }
        } else if let changelog = try store.run(number) {
            found = try Self.logged(changelog, in: store, limit: from + Self.rowsPerPage + 1).dropFirst(from)
                .enumerated().map { ChangeView($1, id: "change-\($0)") }
        }
        hasMore = found.count > Self.rowsPerPage
        changes = Array(found.prefix(Self.rowsPerPage))
    }

    private static func logged(_ run: ChangelogRun, in store: any MainStore, limit: Int) throws -> [ChangelogEntry] {
        var found: [ChangelogEntry] = []
        var last: Int64 = 0
        while found.count < limit {
            let next = try store.changes(of: run, after: last, limit: limit - found.count)
            guard let end = next.last?.id else { break }
            found += next
            last = end
        }
        return found
    }

    private func view(_ review: ChangeReview) -> ReviewView {
        let path = PageAddress.path(run.source, "/runs/\(run.number ?? 0)")
        func address(_ part: ReviewView.Part, _ suffix: String = "") -> String {
            path + suffix + (part.items.isEmpty ? "" : "?" + part.items.joined(separator: "&"))
        }
        return ReviewView(
            review, part, does: ReviewView.words(review.total),
            action: PageAddress.path(run.source, "/accept?run=\(run.number ?? 0)"),
            promise: "These changes are made, or none: where the store has changed since, the run is blocked again.",
            csv: address(part.with { $0.from = 0 }, ".csv")
        ) { address($0) }
    }

    func page() -> Page {
        Page(
            title: "Run \(run.number ?? 0) of \(run.source)",
            fragments: [
                Fragment("run", templates.render("run", SummaryView(self))),
                review.map {
                    Fragment("review", templates.render("review", view($0)))
                } ?? Fragment("changes", templates.render("changes", ChangesView(self))),
            ])
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
        /// Where the source's rows are brought back to it.
        var undo: String?

        init(_ page: RunPage) {
            run = RunRowView(page.run)
            undo = page.mayBeRestored ? PageAddress.path(page.run.source, "/undo?to=\(page.run.number ?? 0)") : nil
            requests = page.run.requests.map {
                Request(
                    key: $0.key, status: $0.status.map(String.init) ?? "–", outcome: $0.outcome.rawValue,
                    bytes: Figures.bytes($0.bytes), seconds: Figures.seconds($0.seconds))
            }
        }
    }

    fileprivate struct ChangesView {
        var changes: [ChangeView]
        var isEmpty: Bool
        var lacksHistory: Bool
        var first: Int
        var last: Int
        var previous: String?
        var next: String?
        var command: String?

        init(_ page: RunPage) {
            changes = page.changes
            isEmpty = page.changes.isEmpty
            lacksHistory = !page.hasHistory && !page.changes.isEmpty
            let from = page.part.from
            first = from + 1
            last = from + page.changes.count
            let path = PageAddress.path(page.run.source, "/runs/\(page.run.number ?? 0)")
            func address(from: Int) -> String {
                path + "?" + page.part.with { $0.from = from }.items.joined(separator: "&")
            }
            previous = from > 0 ? address(from: max(0, from - RunPage.rowsPerPage)) : nil
            let following = from + RunPage.rowsPerPage
            next = page.hasMore && following <= RunPage.mostPassed ? address(from: following) : nil
            command =
                page.hasHistory && page.hasMore && following > RunPage.mostPassed
                ? "tributary changes --run \(page.run.number ?? 0)" : nil
        }
    }
}
