import FeedDeclarations
import FeedModel
import Foundation
import TributaryEngine

/// The page of all sources: how many stand how, and a table of those that were asked for.
struct SourceList {
    let query: SourceQuery
    let status: StoreStatus
    /// What runs in this process.
    let running: Set<String>
    let templates: Templates

    func page() -> Page {
        let all = status.sources + status.undeclared
        let found = sorted(all.filter(matches))
        let pages = max(1, (found.count + SourceQuery.rowsPerPage - 1) / SourceQuery.rowsPerPage)
        let number = min(query.page, pages)
        let first = (number - 1) * SourceQuery.rowsPerPage
        let shown = found[first..<min(found.count, first + SourceQuery.rowsPerPage)]
        let table = TableView(
            columns: columns, isEmpty: found.isEmpty, hasSources: !all.isEmpty,
            from: shown.isEmpty ? 0 : first + 1, to: first + shown.count, count: found.count,
            previous: number > 1 ? query.with { $0.page = number - 1 }.address : nil,
            next: number < pages ? query.with { $0.page = number + 1 }.address : nil)
        let rows = shown.enumerated().map { index, source in
            let view = RowView(source, id: "row-\(index)", isRunning: isRunning(source))
            return Fragment(view.id, templates.render("list-row", view))
        }
        return Page(
            title: "Sources",
            fragments: [
                Fragment("summary", templates.render("summary", SummaryView(filters: filters(all)))),
                Fragment("search", templates.render("search", SearchView(query))),
                Fragment("list", templates.render("list-start", table), rows, templates.render("list-end", table)),
            ])
    }

    private func isRunning(_ source: SourceStatus) -> Bool {
        running.contains(source.state.source) || source.runner != nil
    }

    private func matches(_ source: SourceStatus) -> Bool {
        switch query.filter {
        case nil: break
        case .running: if !isRunning(source) { return false }
        case .condition(let condition): if source.condition != condition { return false }
        }
        guard !query.text.isEmpty else { return true }
        return source.state.source.localizedStandardContains(query.text)
            || source.state.error?.localizedStandardContains(query.text) == true
    }

    private func sorted(_ sources: [SourceStatus]) -> [SourceStatus] {
        switch query.order {
        case .name:
            // They are in the order of their names, but for those that are not declared.
            sources.sorted { $0.state.source < $1.state.source }
        case .state:
            SourceCondition.allCases.flatMap { condition in sources.filter { $0.condition == condition } }
        case .success:
            sources.sorted { ($0.lastSuccess ?? .distantPast) < ($1.lastSuccess ?? .distantPast) }
        case .due:
            sources.sorted { ($0.state.nextDue ?? .distantPast) < ($1.state.nextDue ?? .distantPast) }
        }
    }

    private func filters(_ all: [SourceStatus]) -> [FilterView] {
        var counts: [String: Int] = [:]
        for source in all {
            counts[source.condition.rawValue, default: 0] += 1
            if isRunning(source) { counts[SourceQuery.Filter.running.name, default: 0] += 1 }
        }
        let everything = FilterView(
            name: "all", count: all.count, address: query.with { $0.filter = nil }.address,
            isChosen: query.filter == nil, kind: "all")
        return [everything]
            + SourceQuery.Filter.all.compactMap { filter in
                let count = counts[filter.name] ?? 0
                guard count > 0 || query.filter == filter || filter == .running else { return nil }
                return FilterView(
                    name: filter.name, count: count, address: query.with { $0.filter = filter }.address,
                    isChosen: query.filter == filter, kind: filter.name.replacing(" ", with: "-"))
            }
    }

    private var columns: [ColumnView] {
        [(SourceQuery.Order.name, "Source"), (.state, "State"), (.success, "Last success"), (.due, "Next due")].map {
            order, title in
            ColumnView(
                title: title, address: query.with { $0.order = order }.address, isChosen: query.order == order)
        }
    }
}

extension SourceList {
    fileprivate struct SummaryView { var filters: [FilterView] }

    fileprivate struct FilterView {
        var name: String
        var count: Int
        var address: String
        var isChosen: Bool
        var kind: String
    }

    fileprivate struct SearchView {
        var text: String
        var state: String?
        var sort: String?

        init(_ query: SourceQuery) {
            text = query.text
            state = query.filter?.name
            sort = query.order == .state ? nil : query.order.rawValue
        }
    }

    fileprivate struct ColumnView {
        var title: String
        var address: String
        var isChosen: Bool
    }

    fileprivate struct TableView {
        var columns: [ColumnView]
        var isEmpty: Bool
        var hasSources: Bool
        var from: Int
        var to: Int
        var count: Int
        var previous: String?
        var next: String?
    }

    fileprivate struct RowView {
        var id: String
        var name: String
        var address: String
        var standing: StandingView
        var lastSuccess: TimeView?
        var nextDue: TimeView?
        var dueWord: String?
        var error: String?
        var note: String?

        init(_ source: SourceStatus, id: String, isRunning: Bool) {
            self.id = id
            name = source.state.source
            address = PageAddress.path(name)
            standing = StandingView(source, isRunning: isRunning)
            lastSuccess = source.lastSuccess.map(TimeView.init)
            (nextDue, dueWord) = source.due
            error = source.state.error.map { $0.count > 300 ? $0.prefix(300) + " …" : $0 }
            note = source.state.note
        }
    }
}
