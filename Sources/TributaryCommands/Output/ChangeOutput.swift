import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The changes of runs as lines, while they are read.
struct ChangeOutput {
    private let json: Bool
    private let terminal: Terminal
    private var run: Int64?
    private var table: String?

    init(json: Bool, terminal: Terminal) {
        self.json = json
        self.terminal = terminal
    }

    mutating func add(_ change: RowChange) throws {
        if json {
            return try Terminal.printJSON(ChangeRecord(change))
        }
        if run != change.run {
            try Terminal.print("run \(change.run) of \(change.source), \(change.startedAt.formatted(.iso8601))")
            run = change.run
            table = nil
        }
        if table != change.table {
            try Terminal.print("  \(change.table)")
            table = change.table
        }
        try Terminal.print("    \(line(change))")
    }

    /// Says so where there was nothing.
    ///
    /// - Throws: ``OutputError``.
    func end() throws {
        if run == nil, !json { try Terminal.print("no row has changed") }
    }

    private func line(_ change: RowChange) -> TerminalLine {
        let key = PlanReport.text(change.key)
        switch change.operation {
        case "insert":
            return terminal.colored("+ " + (change.new.map(PlanReport.text) ?? key + Self.unknown), .green)
        case "delete":
            return terminal.colored("- " + (change.old.map(PlanReport.text) ?? key), .red)
        default:
            guard let old = change.old, let new = change.new else {
                return terminal.colored(
                    "~ " + key + ": was " + PlanReport.text(change.old ?? []) + Self.unknown, .yellow)
            }
            return terminal.colored("~ " + key + ": " + PlanReport.changes(old, new), .yellow)
        }
    }

    private static let unknown = " (changed by something else since)"
}
