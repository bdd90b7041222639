import FeedConfiguration
import FeedModel
import TributaryEngine

/// Which of the changes of a run, or of a review, are shown.
struct ChangePart: Sendable, Equatable {
    /// The number of changes to pass over.
    var from = 0
    /// Nil for those of all tables.
    var table: String?
    /// `insert`, `update` or `delete`; nil for all.
    var operation: String?

    init() {}

    /// - Throws: ``Query/Problem``.
    init(_ query: Query) throws {
        from = try query.number("from") ?? 0
        table = query["table"]
        operation = try query.choice("operation", among: ChangeReview.Row.Operation.allCases.map(\.rawValue))
    }

    /// True for changes that are searched among others.
    var isSearch: Bool { table != nil || operation != nil }

    func matches(table: String, operation: String) -> Bool {
        (self.table == nil || self.table == table) && (self.operation == nil || self.operation == operation)
    }

    /// Returns the rows of a review that match, without passing any over.
    func rows(of review: ChangeReview) -> [ChangeReview.Row] {
        review.rows.filter { matches(table: $0.table, operation: $0.operation.rawValue) }
    }

    /// Returns the operations to choose from, with their numbers.
    ///
    /// - Parameter address: returns where a part is shown.
    func filters(_ counts: MergeCounts, _ address: (ChangePart) -> String) -> [View] {
        let operations = [("insert", counts.inserted), ("update", counts.updated), ("delete", counts.deleted)]
            .filter { $0.1 > 0 }
        guard !operations.isEmpty else { return [] }
        let all: View = [
            "name": "all \(operations.reduce(0) { $0 + $1.1 }.grouped)", "address": address(ChangePart()),
            "isChosen": !isSearch,
        ]
        return [all]
            + operations.map { operation, count in
                let isChosen = self.operation == operation
                let own = with { ($0.from, $0.operation) = (0, isChosen ? nil : operation) }
                return ["name": "\(operation) \(count.grouped)", "address": address(own), "isChosen": isChosen]
            }
    }

    /// The part as an address says it.
    var values: [(name: String, value: String?)] {
        [("table", table), ("operation", operation), ("from", from > 0 ? String(from) : nil)]
    }

    func with(_ change: (inout ChangePart) -> Void) -> ChangePart {
        var part = self
        change(&part)
        return part
    }
}
