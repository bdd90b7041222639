import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// Changes that wait for a decision, as the templates show them: totals by table, then a page of rows, the largest
/// differences first.
struct ReviewView {
    static let rowsPerPage = 100

    /// Those whose rows change, each with a link to its rows alone.
    var tables: [View]
    /// The rows before and after; nil where that is not known, or makes no difference.
    var size: SizeBars?
    /// What the deleted rows have in common.
    var common: [String] = []
    var changes: [ChangeView] = []
    var hasRows = false
    var first = 0
    var last = 0
    var omitted: String?
    var filters: [View] = []
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
        _ review: ChangeReview, _ part: ChangePart, showsRows: Bool, action: String?, promise: String,
        address: (_ part: ChangePart, _ suffix: String) -> String
    ) {
        does = Self.button(review.total)
        self.action = action
        self.promise = promise
        instead = review.tables.isEmpty ? "No row would change." : nil
        tables = review.tables.map { table in
            let isChosen = table.table == part.table
            let alone = part.with { ($0.from, $0.table) = (0, isChosen ? nil : table.table) }
            return [
                "name": table.table, "inserted": table.inserted.grouped, "updated": table.updated.grouped,
                "deleted": table.deleted.grouped, "address": showsRows ? address(alone, "") : nil,
                "isChosen": isChosen,
            ]
        }
        guard showsRows else {
            if !review.tables.isEmpty { notes.append(Pages.rowsAreOff) }
            return
        }
        common = review.tables.compactMap { DeletedRows(of: $0, in: review).common }
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
            ? FileFormat.links { address(part.with { $0.from = 0 }, $0) } : []
    }

    /// A purge, which counts its rows.
    init(_ purge: PurgeReport, does: String, action: String?, promise: String) {
        self.does = does
        self.action = action
        self.promise = promise
        tables = purge.tables.map {
            ["name": $0.name, "inserted": "0", "updated": "0", "deleted": $0.deleted.grouped]
        }
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
}
