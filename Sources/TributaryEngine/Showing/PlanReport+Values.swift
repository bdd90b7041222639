package import FeedModel
import FeedStores

/// Rows as text.
extension PlanReport {
    /// Returns the columns of a row with their values.
    package static func text(_ values: PlannedChange.Values) -> String {
        values.map { "\($0.column) = \(literal($0.value))" }.joined(separator: ", ")
    }

    /// Returns the differences of two rows.
    package static func changes(_ old: PlannedChange.Values, _ new: PlannedChange.Values) -> String {
        differences(old, new).map { change in
            let (old, new) = (change.old.spelt(beside: change.new), change.new.spelt(beside: change.old))
            let start = commonStart(old, new)
            return "\(change.column) \(literal(old, from: start)) → \(literal(new, from: start))"
        }.joined(separator: ", ")
    }

    /// Returns the number of characters at the start of two long texts that are the same and need not be shown.
    private static func commonStart(_ old: StoredValue, _ new: StoredValue) -> Int {
        guard case .text(let old) = old, case .text(let new) = new else { return 0 }
        let common = zip(old, new).prefix { $0 == $1 }.count
        return common > 60 ? common - 20 : 0
    }

    private static func literal(_ value: StoredValue, from start: Int = 0) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text):
            "\"" + (start > 0 ? "…" : "") + text.dropFirst(start).prefix(80) + (text.count > start + 80 ? "…" : "")
                + "\""
        case .blob(let data): Figures.count(data.count, "byte")
        }
    }
}
