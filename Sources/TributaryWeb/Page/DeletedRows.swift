import FeedModel
import TributaryEngine

/// The rows of a table that a review deletes, and the values that nearly all of them have.
enum DeletedRows {
    /// The fewest rows that are compared, and the most columns that are named.
    private static let (fewest, mostColumns) = (3, 5)
    /// The share of the rows that have a common value.
    private static let share = 0.9

    /// Returns the values in words; nil where the rows have none in common.
    static func common(of table: ChangeReview.Table, in review: ChangeReview) -> String? {
        let rows = review.rows.filter { $0.table == table.table && $0.operation == .delete }
        let keys = Set(rows.first?.key.map(\.column) ?? [])
        guard rows.count >= fewest, let columns = rows.first?.old.map(\.column) else { return nil }
        var counts: [String: [StoredValue: Int]] = [:]
        for cell in rows.lazy.flatMap(\.old) where cell.value != .null && !keys.contains(cell.column) {
            counts[cell.column, default: [:]][cell.value, default: 0] += 1
        }
        let found = columns.compactMap { column -> String? in
            guard let (value, count) = counts[column]?.max(by: { $0.value < $1.value }),
                Double(count) >= share * Double(rows.count)
            else { return nil }
            return "\(column) is \(value.shown(most: 60)) in \(count == rows.count ? "all" : count.grouped)"
        }
        let number = rows.count == table.deleted ? "" : ", \(rows.count.grouped) were compared"
        let subject = "Of the \(table.deleted.grouped) deleted rows of \(table.table)\(number): "
        return found.isEmpty ? nil : subject + found.prefix(mostColumns).joined(separator: ", ") + "."
    }
}
