import FeedModel
import FeedStores
import Foundation

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

    private struct Line: Encodable {
        var run: Int64
        var source: String
        var started_at: Date
        var table: String
        var operation: String
        var key: [String: JSONValue]
        var old: [String: JSONValue]?
        var new: [String: JSONValue]?
        /// True where something else has changed the row since, so that what the run made of it is not known.
        var changed_since: Bool
    }

    mutating func add(_ change: RowChange) throws {
        if json {
            return Terminal.print(
                try JSONOutput.line(
                    Line(
                        run: change.run, source: change.source, started_at: change.startedAt, table: change.table,
                        operation: change.operation, key: Self.object(change.key), old: change.old.map(Self.object),
                        new: change.new.map(Self.object), changed_since: !change.isKnown)))
        }
        if run != change.run {
            Terminal.print("run \(change.run) of \(change.source), \(change.startedAt.formatted(.iso8601))")
            run = change.run
            table = nil
        }
        if table != change.table {
            Terminal.print("  " + change.table)
            table = change.table
        }
        Terminal.print("    " + line(change))
    }

    /// Says so where there was nothing.
    func end() {
        if run == nil, !json { Terminal.print("no row has changed") }
    }

    private func line(_ change: RowChange) -> String {
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

    private static func object(_ values: RowChange.Values) -> [String: JSONValue] {
        Dictionary(values.map { ($0.column, JSONValue($0.value)) }) { first, _ in first }
    }
}
