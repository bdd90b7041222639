import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// A changed row, as the templates show it.
struct ChangeView {
    struct Column {
        var name: String
        var old: String?
        var new: String?
        var isChanged: Bool
    }

    /// The most characters of a value that are shown.
    private static let longest = 2_000
    /// The most columns in the line of an update, and in that of a whole row, and the most characters of their values.
    private static let (mostBrief, mostWhole, longestBrief) = (3, 8, 60)

    /// The identity of the change's element on a page, which stays when the element moves.
    var id: String
    var table: String
    var key: String
    var operation: String
    /// The changed values of an update, or the values of a row that was inserted or deleted except its key and NULL, as
    /// far as they fit into a line.
    var brief: [Column] = []
    /// Empty where only the changelog tells of the row.
    var columns: [Column]
    var hasColumns: Bool
    var isUnknown: Bool

    init(_ change: RowChange) {
        let values = change.key.isEmpty ? change.new ?? change.old ?? [] : change.key
        id = Self.id(change.run, change.table, change.operation, values.map { "\($0.column)=\($0.value)" })
        table = change.table
        key = change.key.map { "\($0.column) = \($0.value.shown(most: Self.longest))" }.joined(separator: ", ")
        operation = change.operation
        let names = (change.new ?? change.old ?? []).map(\.column)
        let old = Dictionary(change.old ?? []) { first, _ in first }
        let new = Dictionary(change.new ?? []) { first, _ in first }
        columns = names.map { name in
            let isChanged = old[name] != new[name]
            func text(_ value: StoredValue?, beside other: StoredValue?) -> String? {
                value.map { (isChanged ? $0.spelt(beside: other ?? .null) : $0).shown(most: Self.longest) }
            }
            return Column(
                name: name, old: text(old[name], beside: new[name]), new: text(new[name], beside: old[name]),
                isChanged: isChanged)
        }
        // What differs comes first.
        columns = columns.filter(\.isChanged) + columns.filter { !$0.isChanged }
        hasColumns = !columns.isEmpty
        isUnknown = !change.isKnown
        let isUpdate = change.old != nil && change.new != nil
        let keys = Set(change.key.map(\.column))
        let told = change.isKnown ? columns.filter(\.isChanged) : []
        brief = told.filter { isUpdate || !keys.contains($0.name) && (old[$0.name] ?? new[$0.name]) != .null }
            .prefix(isUpdate ? Self.mostBrief : Self.mostWhole).map { column in
                Column(
                    name: column.name, old: column.old?.shortened(to: Self.longestBrief),
                    new: column.new?.shortened(to: Self.longestBrief), isChanged: true)
            }
    }

    init(_ change: ChangeReview.Row) { self.init(RowChange(change)) }

    /// - Parameter run: the run that made the change.
    init(_ change: ChangelogEntry, of run: Int64) {
        id = Self.id(run, change.table, change.operation, [change.key.description])
        table = change.table
        key = change.key.shown(most: Self.longest)
        operation = change.operation
        columns = []
        hasColumns = false
        isUnknown = false
    }

    private static func id(_ run: Int64, _ table: String, _ operation: String, _ key: [String]) -> String {
        "change-\(run)-" + Fingerprint.hexadecimal(([table, operation] + key).joined(separator: "\u{0}"))
    }
}

extension [ChangeView] {
    /// Makes the identities differ: rows of a table without a key may be equal.
    mutating func distinguish() {
        var counts: [String: Int] = [:]
        for index in indices {
            let count = counts[self[index].id, default: 0] + 1
            counts[self[index].id] = count
            if count > 1 { self[index].id += "-\(count)" }
        }
    }
}
