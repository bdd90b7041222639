import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// Changes that wait for a decision, as the templates show them: totals by table, then a page of rows, the largest
/// differences first.
struct ReviewView {
    static let rowsPerPage = 100

    struct Table {
        var name: String
        var inserted: Int
        var updated: Int
        var deleted: Int
        /// Shows the rows of this table alone.
        var address: String?
        var isChosen = false
    }

    /// Which rows are shown.
    struct Part: Sendable, Equatable {
        /// The number of rows to pass over.
        var from = 0
        /// Nil for those of all tables.
        var table: String?
        /// `insert`, `update` or `delete`; nil for all.
        var operation: String?

        init(_ query: Query) {
            from = max(0, query["from"].flatMap { Int($0) } ?? 0)
            table = query["table"]
            operation = query["operation"].flatMap { ChangeReview.Row.Operation(rawValue: $0)?.rawValue }
        }

        var items: [String] {
            (table.map { ["table=" + $0.percentEncoded] } ?? []) + (operation.map { ["operation=" + $0] } ?? [])
                + (from > 0 ? ["from=\(from)"] : [])
        }

        func with(_ change: (inout Part) -> Void) -> Part {
            var part = self
            change(&part)
            return part
        }
    }

    var tables: [Table]
    var changes: [ChangeView] = []
    var hasRows = false
    var first = 0
    var last = 0
    var omitted: Int?
    var all: String?
    var previous: String?
    var next: String?
    var csv: String?
    /// Where the button leads; nil where there is nothing to do.
    var action: String?
    var does: String
    var promise: String
    /// What else is to be known before somebody decides.
    var notes: [String] = []

    /// - Parameter address: returns where a part of the rows is shown.
    init(
        _ review: ChangeReview, _ part: Part, does: String, action: String?, promise: String, csv: String?,
        address: (Part) -> String
    ) {
        self.does = does
        self.action = action
        self.promise = promise
        self.csv = csv
        tables = review.tables.map { table in
            Table(
                name: table.table, inserted: table.inserted, updated: table.updated, deleted: table.deleted,
                address: address(
                    part.with {
                        $0.from = 0
                        $0.table = table.table
                    }), isChosen: table.table == part.table)
        }
        let rows = part.table.map { name in review.rows.filter { $0.table == name } } ?? review.rows
        let shown = rows.dropFirst(part.from).prefix(Self.rowsPerPage)
        changes = shown.enumerated().map { ChangeView($1, id: "change-\($0)") }
        hasRows = !review.rows.isEmpty
        first = shown.isEmpty ? 0 : part.from + 1
        last = shown.isEmpty ? 0 : part.from + shown.count
        omitted = review.omitted > 0 ? review.omitted : nil
        all = part.table == nil ? nil : address(part.with { ($0.from, $0.table) = (0, nil) })
        previous = part.from > 0 ? address(part.with { $0.from = max(0, part.from - Self.rowsPerPage) }) : nil
        next = last < rows.count && !shown.isEmpty ? address(part.with { $0.from = last }) : nil
    }

    /// A purge, which counts its rows.
    init(_ purge: PurgeReport, does: String, action: String, promise: String) {
        self.does = does
        self.action = action
        self.promise = promise
        tables = purge.tables.map { Table(name: $0.name, inserted: 0, updated: 0, deleted: $0.deleted) }
        for table in purge.tables.sorted(by: { $0.name < $1.name }) {
            if table.shared > 0 {
                notes.append(
                    "\(Figures.count(table.shared, "row")) of '\(table.name)' stay: other sources have written them, too."
                )
            }
            if table.unknown > 0 {
                notes.append(
                    "\(Figures.count(table.unknown, "row")) of '\(table.name)' stay: the changelog does not name them.")
            }
        }
    }

    /// Returns what a commit does, as a button says it: "Delete 360 rows and update 12".
    static func words(_ counts: MergeCounts) -> String {
        let parts = [("delete", counts.deleted), ("update", counts.updated), ("insert", counts.inserted)]
            .filter { $0.1 > 0 }
        let texts = parts.enumerated().map { place, part in
            "\(part.0) \(part.1)" + (place == 0 ? (part.1 == 1 ? " row" : " rows") : "")
        }
        let start = texts.dropLast().joined(separator: ", ")
        let text = (start.isEmpty ? "" : start + " and ") + (texts.last ?? "")
        return text.isEmpty ? "Accept: no row changes" : text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Returns the rows of a review as CSV, a line for each value: of an updated row, for those that differ.
    static func csv(_ review: ChangeReview, _ table: String?) -> String {
        let format = RowFormat.csv
        let columns = ["table", "operation", "key", "column", "before", "after"]
        var text = format.start(columns)
        for row in review.rows where table == nil || row.table == table {
            let key = RowFormat.object(row.key.map(\.column), row.key.map(\.value))
            let names = (row.old.isEmpty ? row.new : row.old).map(\.column)
            let old = Dictionary(row.old.map { ($0.column, $0.value) }) { first, _ in first }
            let new = Dictionary(row.new.map { ($0.column, $0.value) }) { first, _ in first }
            for name in names {
                let values: [StoredValue] = [
                    .text(row.table), .text(row.operation.rawValue), .text(key), .text(name), old[name] ?? .null,
                    new[name] ?? .null,
                ]
                text += format.row(columns, values, isFirst: false)
            }
        }
        return text
    }
}
