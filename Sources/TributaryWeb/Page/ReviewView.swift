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
        var inserted: String
        var updated: String
        var deleted: String
        /// Shows the rows of this table alone.
        var address: String?
        var isChosen = false
    }

    /// A part of the rows, to choose.
    struct Filter {
        var name: String
        var address: String
        var isChosen: Bool
    }

    /// Which rows are shown.
    struct Part: Sendable, Equatable {
        /// The number of rows to pass over.
        var from = 0
        /// Nil for those of all tables.
        var table: String?
        /// `insert`, `update` or `delete`; nil for all.
        var operation: String?

        /// - Throws: ``Query/Problem``.
        init(_ query: Query) throws {
            from = try query.number("from") ?? 0
            table = query["table"]
            let operation: ChangeReview.Row.Operation? = try query.choice("operation")
            self.operation = operation?.rawValue
        }

        func rows(of review: ChangeReview) -> [ChangeReview.Row] {
            review.rows.filter {
                (table == nil || $0.table == table) && (operation == nil || $0.operation.rawValue == operation)
            }
        }

        /// Returns the operations to choose from, with their numbers.
        ///
        /// - Parameter address: returns where a part is shown.
        func filters(_ counts: MergeCounts, _ address: (Part) -> String) -> [Filter] {
            let operations = [("insert", counts.inserted), ("update", counts.updated), ("delete", counts.deleted)]
                .filter { $0.1 > 0 }
            guard !operations.isEmpty else { return [] }
            let all = Filter(
                name: "all \(operations.reduce(0) { $0 + $1.1 }.grouped)",
                address: address(with { ($0.from, $0.table, $0.operation) = (0, nil, nil) }),
                isChosen: table == nil && operation == nil)
            return [all]
                + operations.map { operation, count in
                    let isChosen = self.operation == operation
                    return Filter(
                        name: "\(operation) \(count.grouped)",
                        address: address(with { ($0.from, $0.operation) = (0, isChosen ? nil : operation) }),
                        isChosen: isChosen)
                }
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
    var omitted: String?
    var filters: [Filter] = []
    var hasFilters = false
    var previous: String?
    var next: String?
    /// The rows for programs.
    var formats: [Layout.Link] = []
    /// Where the button leads; nil where there is none.
    var action: String?
    var does: String
    var promise: String
    /// The address that pauses the source before somebody decides; nil where that is not offered.
    var pause: String?
    /// How the changes are refused.
    var refusal: String?
    /// What is said in place of the button.
    var instead: String?
    /// What else is to be known before somebody decides.
    var notes: [String] = []

    /// - Parameters:
    ///   - showsRows: false for the totals alone.
    ///   - action: the address of the button; nil for no button.
    ///   - address: returns where a part of the rows is shown, or with the suffix of a format, is written for programs.
    init(
        _ review: ChangeReview, _ part: Part, showsRows: Bool, action: String?, promise: String,
        address: (_ part: Part, _ suffix: String) -> String
    ) {
        does = Self.button(review.total)
        self.action = action
        self.promise = promise
        instead = review.tables.isEmpty ? "No row would change." : nil
        tables = review.tables.map { table in
            Table(
                name: table.table, inserted: table.inserted.grouped, updated: table.updated.grouped,
                deleted: table.deleted.grouped,
                address: !showsRows
                    ? nil
                    : address(
                        part.with { ($0.from, $0.table) = (0, table.table == part.table ? nil : table.table) }, ""),
                isChosen: table.table == part.table)
        }
        guard showsRows else {
            if !review.tables.isEmpty { notes.append(Pages.rowsAreOff) }
            return
        }
        filters = part.filters(review.total) { address($0, "") }
        hasFilters = !filters.isEmpty
        let rows = part.rows(of: review)
        let shown = rows.dropFirst(part.from).prefix(Self.rowsPerPage)
        changes = shown.map { ChangeView($0) }
        changes.distinguish()
        hasRows = !review.rows.isEmpty
        first = shown.isEmpty ? 0 : part.from + 1
        last = shown.isEmpty ? 0 : part.from + shown.count
        omitted = review.omitted > 0 ? review.omitted.grouped : nil
        previous = part.from > 0 ? address(part.with { $0.from = max(0, part.from - Self.rowsPerPage) }, "") : nil
        next = last < rows.count && !shown.isEmpty ? address(part.with { $0.from = last }, "") : nil
        formats =
            hasRows
            ? [ChangeFileFormat.csv, .json].map { format in
                Layout.Link(
                    name: format.rawValue.uppercased(),
                    address: address(part.with { $0.from = 0 }, "." + format.rawValue))
            } : []
    }

    /// A purge, which counts its rows.
    init(_ purge: PurgeReport, does: String, action: String?, promise: String) {
        self.does = does
        self.action = action
        self.promise = promise
        tables = purge.tables.map { Table(name: $0.name, inserted: "0", updated: "0", deleted: $0.deleted.grouped) }
        for table in purge.tables.sorted(by: { $0.name < $1.name }) {
            if table.shared > 0 {
                notes.append(
                    "Kept: \(Figures.count(table.shared, "row")) of '\(table.name)' that other sources also wrote."
                )
            }
            if table.unknown > 0 {
                notes.append(
                    "Kept: \(Figures.count(table.unknown, "row")) of '\(table.name)' that the changelog does not have."
                )
            }
        }
    }

    /// Returns what a commit does: "delete 360 rows and update 12".
    static func words(_ counts: MergeCounts) -> String {
        let parts = [("delete", counts.deleted), ("update", counts.updated), ("insert", counts.inserted)]
            .filter { $0.1 > 0 }
        let texts = parts.enumerated().map { place, part in
            "\(part.0) \(part.1.grouped)" + (place == 0 ? (part.1 == 1 ? " row" : " rows") : "")
        }
        let start = texts.dropLast().joined(separator: ", ")
        return (start.isEmpty ? "" : start + " and ") + (texts.last ?? "no row changes")
    }

    /// Returns what a button says: "Delete 360 rows and update 12".
    static func button(_ counts: MergeCounts) -> String {
        let text = words(counts)
        return counts.inserted + counts.updated + counts.deleted == 0
            ? "Accept: \(text)" : text.prefix(1).uppercased() + text.dropFirst()
    }

    /// Returns the rows of a review for programs.
    static func file(_ review: ChangeReview, _ part: Part, _ format: ChangeFileFormat) throws -> String {
        var text = format.start
        for (index, row) in part.rows(of: review).enumerated() { text += try format.text(row, isFirst: index == 0) }
        return text + format.end
    }
}
