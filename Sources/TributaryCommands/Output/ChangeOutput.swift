import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// The changes of runs as lines, while they are read.
struct ChangeOutput {
    /// The most inserted rows that share a heading, and whose columns are aligned.
    private static let mostTogether = 100

    private let json: Bool
    private let terminal: Terminal
    /// True until a change is added.
    private(set) var isEmpty = true
    private var run: Int64?
    private var table: String?
    /// Inserted rows of one table with the same columns as they are shown, which are not yet printed.
    private var inserted: [[(column: String, text: String)]] = []
    private var counts = MergeCounts()
    private var isCut = false

    init(json: Bool, terminal: Terminal) {
        self.json = json
        self.terminal = terminal
    }

    mutating func add(_ change: RowChange) throws {
        isEmpty = false
        if json {
            return try Terminal.printJSON(ChangeRecord(change))
        }
        counts += MergeCounts(changes: [(change.operation, 1)])
        if run != change.run || table != change.table { try printInserted() }
        if run != change.run {
            try Terminal.print("run \(change.run) of \(change.source), \(change.startedAt.formatted(.iso8601))")
            run = change.run
            table = nil
        }
        if table != change.table {
            try Terminal.print("  \(change.table)")
            table = change.table
        }
        if change.operation == "insert", let row = change.new {
            let columns = inserted.first?.map(\.column)
            if inserted.count == Self.mostTogether || columns != nil && columns != row.map(\.column) {
                try printInserted()
            }
            return inserted.append(row.map { ($0.column, PlanReport.literal($0.value)) })
        }
        try printInserted()
        let (text, color) = line(change)
        try print(text, color)
    }

    /// Writes that there are more changes.
    ///
    /// - Throws: ``OutputError``.
    mutating func cut() throws {
        guard !json else { return }
        isCut = true
        try printInserted()
        try Terminal.print("… more; a higher --limit shows them")
    }

    /// Writes the numbers of all changes, or that there were none.
    ///
    /// - Throws: ``OutputError``.
    mutating func end() throws {
        guard !json, !isCut else { return }
        try printInserted()
        try Terminal.print(isEmpty ? "no row has changed" : "\(counts.changedWords)")
    }

    private func print(_ text: String, _ color: Terminal.Color) throws {
        for line in terminal.wrapped(text, color, after: "    ", indent: 6) { try Terminal.print(line) }
    }

    /// Prints the rows that wait as a table, where it fits the terminal.
    private mutating func printInserted() throws {
        defer { inserted = [] }
        guard let first = inserted.first else { return }
        var table = TextTable([("", .left)] + first.map { ($0.column, .left) })
        for row in inserted { table.add([.init("+", .green)] + row.map { .init($0.text) }) }
        let lines = table.lines(on: terminal).map { "    " + $0 }
        let isFit = lines.allSatisfy { $0.displayWidth <= terminal.size?.columns ?? .max }
        guard inserted.count > 1, isFit else {
            for row in inserted {
                try print("+ " + row.map { "\($0.column) = \($0.text)" }.joined(separator: ", "), .green)
            }
            return
        }
        for line in lines { try Terminal.print(line) }
    }

    private func line(_ change: RowChange) -> (text: String, color: Terminal.Color) {
        let key = PlanReport.text(change.key)
        switch change.operation {
        case "insert":
            return ("+ " + key + Self.unknown, .green)
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
