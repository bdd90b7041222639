import FeedModel
import Foundation
import TributaryEngine

/// The changes that a blocked run waits to make, as the templates show them: totals by table, then a page of rows, the
/// largest differences first.
struct ReviewView {
    struct Table {
        var name: String
        var inserted: Int
        var updated: Int
        var deleted: Int
    }

    var tables: [Table]
    var changes: [ChangeView]
    var first: Int
    var last: Int
    var omitted: Int?
    var previous: String?
    var next: String?
    var accept: String
    var does: String

    /// - Parameter from: the number of rows to pass over.
    init(_ review: ChangeReview, of run: RunReport, from: Int) {
        let path = PageAddress.path(run.source, "/runs/\(run.number ?? 0)")
        tables = review.tables.map {
            Table(name: $0.table, inserted: $0.inserted, updated: $0.updated, deleted: $0.deleted)
        }
        let shown = review.rows.dropFirst(from).prefix(RunPage.rowsPerPage)
        changes = shown.enumerated().map { ChangeView($1, id: "change-\($0)") }
        first = shown.isEmpty ? 0 : from + 1
        last = from + shown.count
        omitted = review.omitted > 0 ? review.omitted : nil
        previous = from > 0 ? path + "?from=\(max(0, from - RunPage.rowsPerPage))" : nil
        next = last < review.rows.count && !shown.isEmpty ? path + "?from=\(last)" : nil
        accept = PageAddress.path(run.source, "/accept?run=\(run.number ?? 0)")
        does = Self.words(review.total)
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
}
