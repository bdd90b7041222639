import FeedModel
import TributaryEngine

/// The rows of a table that a review deletes, and the values that nearly all of them have.
struct DeletedRows {
    /// The fewest rows that are compared, and the most columns that are named.
    private static let (fewest, mostColumns) = (3, 5)
    /// The share of the rows that have a common value.
    private static let share = 0.9

    /// The values in words; nil where the rows have none in common.
    let common: String?

    init(of table: ChangeReview.Table, in review: ChangeReview) {
        let rows = review.rows.filter { $0.table == table.table && $0.operation == .delete }
        let keys = Set(rows.first?.key.map(\.column) ?? [])
        guard rows.count >= Self.fewest, let columns = rows.first?.old.map(\.column) else {
            common = nil
            return
        }
        var counts: [String: [StoredValue: Int]] = [:]
        for cell in rows.lazy.flatMap(\.old) where cell.value != .null && !keys.contains(cell.column) {
            counts[cell.column, default: [:]][cell.value, default: 0] += 1
        }
        let found = columns.compactMap { column -> String? in
            guard let (value, count) = counts[column]?.max(by: { $0.value < $1.value }),
                Double(count) >= Self.share * Double(rows.count)
            else { return nil }
            return "\(column) is \(value.shown(most: 60)) in \(count == rows.count ? "all" : count.grouped)"
        }
        let number = rows.count == table.deleted ? "" : ", \(rows.count.grouped) were compared"
        let subject = "Of the \(table.deleted.grouped) deleted rows of \(table.table)\(number): "
        common = found.isEmpty ? nil : subject + found.prefix(Self.mostColumns).joined(separator: ", ") + "."
    }
}
