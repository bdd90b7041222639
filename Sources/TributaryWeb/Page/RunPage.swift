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
    let changes: RunChanges
    /// The tables of its source.
    let tables: [String]
    let neighbours: (previous: Int64?, next: Int64?)
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
        changes = try RunChanges(
            number,
            RunChanges.Part(table: part.table, operation: part.operation, from: from, limit: Self.rowsPerPage),
            of: run.counts.inserted + run.counts.updated + run.counts.deleted, in: store)
        tables = Set(try store.states(of: source).requests.values.flatMap(\.tables)).sorted()
        neighbours = try store.neighbours(of: number, of: source)
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
        var previous: String?
        var next: String?

        init(_ page: RunPage) {
            run = RunRowView(page.run)
            func path(_ run: Int64) -> String { PageAddress.path(page.run.source, "/runs/\(run)") }
            previous = page.neighbours.previous.map(path)
            next = page.neighbours.next.map(path)
            undo = page.mayBeRestored ? PageAddress.path(page.run.source, "/undo?to=\(page.run.number ?? 0)") : nil
            requests = page.run.requests.map {
                Request(
                    key: $0.key, status: $0.status.map(String.init) ?? "–", outcome: $0.outcome.rawValue,
                    bytes: Figures.bytes($0.bytes), seconds: Figures.seconds($0.seconds))
            }
        }
    }

    fileprivate struct ChangesView {
        struct Filter {
            var name: String
            var address: String
            var isChosen: Bool
        }

        var filters: [Filter]
        var hasFilters: Bool
        var changes: [ChangeView]
        var isEmpty: Bool
        var lacksHistory: Bool
        var first: Int
        var last: Int
        var previous: String?
        var next: String?
        var command: String?
        /// The number of changes that were searched; nil for all.
        var searched: String?

        init(_ page: RunPage) {
            changes = page.changes.changes
            isEmpty = changes.isEmpty
            lacksHistory = !page.changes.hasHistory && !changes.isEmpty
            let from = page.part.from
            first = from + 1
            last = from + changes.count
            let path = PageAddress.path(page.run.source, "/runs/\(page.run.number ?? 0)")
            func address(_ change: (inout ReviewView.Part) -> Void) -> String {
                let items = page.part.with(change).items
                return path + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
            }
            func starting(from: Int) -> String { address { $0.from = from } }
            let counts = page.run.counts
            let operations = [("insert", counts.inserted), ("update", counts.updated), ("delete", counts.deleted)]
                .filter {
                    $0.1 > 0
                }
            let all = Filter(
                name: "all \(operations.reduce(0) { $0 + $1.1 })", address: path,
                isChosen: page.part.table == nil && page.part.operation == nil)
            var filters = [all]
            for (operation, count) in operations {
                let isChosen = page.part.operation == operation
                filters.append(
                    Filter(
                        name: "\(operation) \(count)",
                        address: address { ($0.from, $0.operation) = (0, isChosen ? nil : operation) },
                        isChosen: isChosen))
            }
            for table in page.tables where page.tables.count > 1 {
                let isChosen = page.part.table == table
                filters.append(
                    Filter(
                        name: table, address: address { ($0.from, $0.table) = (0, isChosen ? nil : table) },
                        isChosen: isChosen))
            }
            self.filters = filters
            hasFilters = !operations.isEmpty
            previous = from > 0 ? starting(from: max(0, from - RunPage.rowsPerPage)) : nil
            let following = from + RunPage.rowsPerPage
            next = page.changes.hasMore && following <= RunPage.mostPassed ? starting(from: following) : nil
            let isRest = page.changes.hasMore && following > RunPage.mostPassed || page.changes.isCut
            command = page.changes.hasHistory && isRest ? "tributary changes --run \(page.run.number ?? 0)" : nil
            searched = page.changes.isCut ? RunChanges.mostSearched.grouped : nil
        }
    }
}
