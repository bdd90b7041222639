import FeedModel
import FeedStores
import TributaryEngine

/// The lines of a plan, for people.
extension PlanReport {
    /// Returns the report's lines, for people.
    func lines(_ plan: StackPlan, on terminal: Terminal) -> [TerminalLine] {
        var lines = changes(on: terminal)
        func wrapped(_ text: String) -> [TerminalLine] { terminal.wrapped(text, after: "", indent: 4) }
        if !plan.changesRows {
            let reason =
                plan.requests.allSatisfy { $0.outcome == .unchanged }
                ? plan.requests.allSatisfy { $0.status == 304 }
                    ? "every request answered 304" : "every document is the same as before"
                : "\(Figures.count(plan.counts.unchanged, "row")) as before"
            lines += wrapped("\(plan.files.isEmpty ? "nothing" : "no row") will change: \(reason)")
        }
        if let blocked = plan.blocked { lines += wrapped("Blocked: \(blocked)") }
        if plan.skipped > 0 {
            lines += wrapped(
                "\(Figures.count(plan.skipped, "record")) will be skipped: \(plan.skipReasons.joined(separator: "; "))")
        }
        for note in plan.notes + plan.files { lines += wrapped(note) }
        lines += RunLines.requests(plan.requests)
        lines += Self.section("Not mapped:", plan.elements)
        lines += Self.section("Columns without a value in any record:", plan.columns)
        return lines
    }

    /// Returns the lines of the changes themselves.
    func changes(on terminal: Terminal) -> [TerminalLine] {
        tables.sorted { $0.key < $1.key }.flatMap { name, table in
            var lines = [TerminalLine(name)]
            func add(_ text: String, _ color: Terminal.Color) {
                lines += terminal.wrapped(text, color, after: "  ", indent: 4)
            }
            for change in table.deleted { add("- \(Self.text(change.row))", .red) }
            for change in table.updated { add("~ \(Self.update(change))", .yellow) }
            for change in table.inserted { add("+ \(Self.text(change.row))", .green) }
            let shown = table.deleted.count + table.updated.count + table.inserted.count
            let all = table.counts.deleted + table.counts.updated + table.counts.inserted
            if all > shown {
                lines.append("  … \(all - shown) more; \(more)")
            }
            lines.append(
                "  will insert \(table.counts.inserted), update \(table.counts.updated), delete \(table.counts.deleted)"
            )
            return lines
        }
    }

    private static func section(_ title: String, _ found: [StackPlan.Unmatched]) -> [TerminalLine] {
        found.isEmpty ? [] : ["\(title)"] + found.map { "  \($0.path) (\($0.count), request \($0.request))" }
    }

    private static func update(_ change: PlannedChange) -> String {
        guard case .update(let old) = change.operation else { return "" }
        let key = change.row.filter { value in change.key.contains { $0.lowercased() == value.column.lowercased() } }
        return text(key) + ": " + changes(old, change.row)
    }
}
