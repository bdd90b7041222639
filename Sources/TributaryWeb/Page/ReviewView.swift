import FeedModel
import FeedStores
import TributaryEngine

/// Changes that wait for a decision, as the template shows them: totals by table, then a page of rows, the largest
/// differences first.
enum ReviewView {
    static let rowsPerPage = 100

    /// Returns the changes that a button makes.
    ///
    /// - Parameters:
    ///   - showsRows: false for the totals alone.
    ///   - action: the address of the button; nil for no button.
    ///   - address: returns where a part of the rows is shown, or with the suffix of a format, is written for programs.
    static func view(
        _ review: ChangeReview, _ part: ChangePart, showsRows: Bool, action: String?, promise: String,
        address: (_ part: ChangePart, _ suffix: String) -> String
    ) -> View {
        let isEmpty = review.tables.isEmpty
        var view: View = [
            "does": button(review.total), "action": action, "promise": promise,
            // What is said in place of the button.
            "instead": isEmpty ? "No row would change." : nil,
            // Those whose rows change, each with a link to its rows alone.
            "tables": review.tables.map { table -> View in
                let isChosen = table.table == part.table
                let alone = part.with { ($0.from, $0.table) = (0, isChosen ? nil : table.table) }
                return [
                    "name": table.table, "inserted": table.inserted.grouped, "updated": table.updated.grouped,
                    "deleted": table.deleted.grouped, "address": showsRows ? address(alone, "") : nil,
                    "isChosen": isChosen,
                ]
            },
        ]
        guard showsRows else {
            if !isEmpty { view.note(Pages.rowsAreOff) }
            return view
        }
        let filters = part.filters(review.total) { address($0, "") }
        let rows = part.rows(of: review)
        let shown = rows.dropFirst(part.from).prefix(rowsPerPage)
        var changes = shown.map { ChangeView($0) }
        changes.distinguish()
        let last = shown.isEmpty ? 0 : part.from + shown.count
        let all = part.with { $0.from = 0 }
        view.add([
            // What the deleted rows have in common.
            "common": review.tables.compactMap { DeletedRows.common(of: $0, in: review) },
            "filters": filters, "hasFilters": !filters.isEmpty, "changes": changes, "hasRows": !review.rows.isEmpty,
            "first": shown.isEmpty ? 0 : part.from + 1, "last": last,
            "omitted": review.omitted > 0 ? review.omitted.grouped : nil,
            "previous": part.from > 0 ? address(part.with { $0.from = max(0, part.from - rowsPerPage) }, "") : nil,
            "next": last < rows.count && !shown.isEmpty ? address(part.with { $0.from = last }, "") : nil,
            // The rows for programs.
            "formats": review.rows.isEmpty ? nil : FileFormat.links { address(all, $0) },
        ])
        return view
    }

    /// Returns the deletions of a purge, which counts its rows.
    static func view(_ purge: PurgeReport, does: String, action: String?, promise: String) -> View {
        var view: View = [
            "does": does, "action": action, "promise": promise,
            "tables": purge.tables.map {
                ["name": $0.name, "inserted": "0", "updated": "0", "deleted": $0.deleted.grouped] as View
            },
        ]
        for table in purge.tables.sorted(by: { $0.name < $1.name }) {
            if table.shared > 0 {
                view.note(
                    "Kept: \(Figures.count(table.shared, "row")) of '\(table.name)' that other sources also wrote.")
            }
            if table.unknown > 0 {
                view.note(
                    "Kept: \(Figures.count(table.unknown, "row")) of '\(table.name)' that the changelog does not have.")
            }
        }
        return view
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
        return counts.changed == 0
            ? "Accept: \(text)" : text.prefix(1).uppercased() + text.dropFirst()
    }
}
