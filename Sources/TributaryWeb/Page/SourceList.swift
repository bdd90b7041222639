import FeedConfiguration
import FeedModel
import Foundation
import TributaryEngine

/// The page of all sources: how many stand how, and a table of those that were asked for.
struct SourceList {
    let query: SourceQuery
    let table: SourceTable
    /// What runs in this process.
    let running: Set<String>

    /// The sources that match, by their places in the table.
    private var found: [Int] = []

    init(query: SourceQuery, table: SourceTable, running: Set<String>) {
        self.query = query
        self.table = table
        self.running = running
        found = sorted(table.sources.indices.filter(matches))
    }

    private var pages: Int { max(1, (found.count + SourceQuery.rowsPerPage - 1) / SourceQuery.rowsPerPage) }
    private var number: Int { min(query.page, pages) }

    /// Those of the found sources that are shown.
    private var shown: ArraySlice<Int> {
        let first = (number - 1) * SourceQuery.rowsPerPage
        return found[first..<min(found.count, first + SourceQuery.rowsPerPage)]
    }

    /// The sources that are shown, with the times of their last commits.
    var shownSources: [(name: String, lastCommit: Date?)] {
        shown.map { (table.names[$0], table.sources[$0].state.lastCommit) }
    }

    /// - Parameter recent: what the last runs of the shown sources did.
    func page(_ recent: [String: RecentRuns], _ templates: Templates) -> Page {
        let shown = shown
        let first = shown.startIndex
        let frame: View = [
            "columns": columns, "isEmpty": found.isEmpty, "hasSources": !table.sources.isEmpty,
            "from": shown.isEmpty ? 0 : first + 1, "to": first + shown.count, "count": found.count,
            "previous": number > 1 ? query.with { $0.page = number - 1 }.address : nil,
            "next": number < pages ? query.with { $0.page = number + 1 }.address : nil,
        ]
        let search: View = [
            "text": query.text, "cause": query.cause, "state": query.filter,
            "sort": query.order == .state ? nil : query.order.rawValue,
        ]
        let rows = shown.map { index in
            // The same source keeps its row, wherever it moves to.
            let id = "row-" + table.names[index].percentEncoded
            let view = row(index, id, recent[table.names[index]] ?? RecentRuns())
            return Fragment(id, templates.render("list-row", view))
        }
        let problems = table.problems
        return Page(
            title: "Sources",
            fragments: [
                templates.fragment("summary", ["filters": filters]),
                table.common.fragment(query, templates),
                templates.fragment("search", search),
                Fragment("list", templates.render("list-start", frame), rows, templates.render("list-end", frame)),
            ], problems: problems,
            status: problems == 0
                ? "No source needs attention."
                : "\(Figures.count(problems, "source")) to look at: \(table.problemWords).")
    }

    private func row(_ index: Int, _ id: String, _ recent: RecentRuns) -> View {
        let source = table.sources[index]
        let (name, state) = (table.names[index], source.state)
        let (nextDue, dueWord) = source.due
        // The next attempt is in a column of its own, and the error is above it.
        let wait = source.wait?.reason == .host ? source.wait?.text : nil
        let note = state.error == nil ? state.note : source.acceptance?.text ?? wait
        let error: String? = state.error.map { $0.count > 300 ? $0.prefix(300) + " …" : $0 }
        return [
            "id": id, "name": name, "address": PageAddress.path(name),
            "standing": source.standing(isRunning: isRunning(index)), "strip": RunStrip(recent.runs).svg,
            "rows": recent.rows.map(\.grouped),
            "changedRows": recent.changedRows > 0 ? recent.changedRows.grouped : nil,
            "lastSuccess": state.lastGood, "nextDue": nextDue, "dueWord": dueWord,
            "error": error, "note": note.map { Sentence($0, due: state.nextDue) },
        ]
    }

    private func isRunning(_ index: Int) -> Bool { table.isRunning(index, running) }

    private var filters: [View] {
        var counts: [String: Int] = [:]
        for (condition, indices) in Dictionary(grouping: table.sources.indices, by: { table.conditions[$0] }) {
            counts[condition.rawValue] = indices.count
        }
        counts[SourceQuery.running] = table.sources.indices.count(where: isRunning)
        func view(_ name: String, _ count: Int, _ filter: String?) -> View {
            [
                "name": name, "count": count, "address": query.with { $0.filter = filter }.address,
                "isChosen": query.filter == filter,
            ]
        }
        return [view("all", table.sources.count, nil)]
            + SourceQuery.filters.compactMap { filter in
                let count = counts[filter] ?? 0
                guard count > 0 || query.filter == filter || filter == SourceQuery.running else { return nil }
                return view(filter, count, filter)
            }
    }

    private var columns: [View] {
        let columns: [(SourceQuery.Order?, String, Bool)] = [
            (.name, "Source", false), (.state, "State", false), (nil, "Last \(RunStrip.runs) runs", false),
            (nil, "Rows", true), (nil, "Changed in 24 h", true), (.success, "Last success", false),
            (.due, "Next due", false),
        ]
        return columns.map { order, title, isNumber in
            [
                // Without an address, nothing is sorted by the column.
                "title": title, "address": order.map { order in query.with { $0.order = order }.address },
                "isChosen": query.order == order, "isNumber": isNumber,
            ]
        }
    }
}

/// Which sources of the table match the query, and their order.
extension SourceList {
    private func matches(_ index: Int) -> Bool {
        switch query.filter {
        case nil: break
        case SourceQuery.running: if !isRunning(index) { return false }
        case let condition: if table.conditions[index].rawValue != condition { return false }
        }
        if let cause = query.cause, table.causes[index]?.text != cause { return false }
        return query.text.isEmpty || table.texts[index].contains(query.text.lowercased())
    }

    private func sorted(_ found: [Int]) -> [Int] {
        switch query.order {
        case .name: found.sorted { table.names[$0] < table.names[$1] }
        case .state:
            // Those with a common error are together, the most frequent one first.
            SourceCondition.allCases.flatMap { condition in
                let own = found.filter { table.conditions[$0] == condition }
                guard own.contains(where: { table.causes[$0] != nil }) else { return own }
                let counts = own.map { table.common.count(of: table.causes[$0]) }
                return own.indices.sorted {
                    (counts[$1], table.causes[own[$0]]?.text ?? "", own[$0])
                        < (counts[$0], table.causes[own[$1]]?.text ?? "", own[$1])
                }.map { own[$0] }
            }
        case .success: found.sorted { (table.successes[$0], $0) < (table.successes[$1], $1) }
        case .due: found.sorted { (table.dueTimes[$0], $0) < (table.dueTimes[$1], $1) }
        }
    }
}
