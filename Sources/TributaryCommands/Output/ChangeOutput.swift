import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The changes of runs as lines, while they are read.
struct ChangeOutput {
    private let json: Bool
    private let terminal: Terminal
    /// True until a change is added.
    private(set) var isEmpty = true
    private var run: Int64?
    private var table: String?

    init(json: Bool, terminal: Terminal) {
        self.json = json
        self.terminal = terminal
    }

    mutating func add(_ change: RowChange) throws {
        isEmpty = false
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
        let (text, color) = line(change)
        for line in terminal.wrapped(text, color, after: "    ", indent: 6) { try Terminal.print(line) }
    }

    /// Writes that there are more changes.
    ///
    /// - Throws: ``OutputError``.
    func cut() throws {
        if !json { try Terminal.print("… more; a higher --limit shows them") }
    }

    /// Says so where there was nothing.
    ///
    /// - Throws: ``OutputError``.
    func end() throws {
        if isEmpty, !json { try Terminal.print("no row has changed") }
    }

    private func line(_ change: RowChange) -> (text: String, color: Terminal.Color) {
        let key = PlanReport.text(change.key)
        switch change.operation {
        case "insert":
            return ("+ " + (change.new.map(PlanReport.text) ?? key + Self.unknown), .green)
        case "delete":
            return ("- " + (change.old.map(PlanReport.text) ?? key), .red)
        default:
            guard let old = change.old, let new = change.new else {
                return ("~ " + key + ": was " + PlanReport.text(change.old ?? []) + Self.unknown, .yellow)
            }
            return ("~ " + key + ": " + PlanReport.changes(old, new), .yellow)
        }
    }

    private static let unknown = " (changed by another program or by migrate since)"
}
