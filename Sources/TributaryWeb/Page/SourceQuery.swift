import FeedDeclarations
import TributaryEngine

/// Which sources the list shows, and in which order.
struct SourceQuery: Sendable {
    enum Order: String, CaseIterable {
        case state, name, success, due
    }

    /// A condition, or `running`.
    enum Filter: Equatable {
        case condition(SourceCondition)
        case running

        static let all = [Filter.running] + SourceCondition.allCases.map(Filter.condition)

        var name: String {
            switch self {
            case .running: "running"
            case .condition(let condition): condition.rawValue
            }
        }
    }

    static let rowsPerPage = 100

    var text = ""
    var filter: Filter?
    /// The text of a ``ProblemCause``.
    var cause: String?
    var order = Order.state
    /// Counted from 1.
    var page = 1

    init(_ query: Query) {
        text = query["q"] ?? ""
        filter = query["state"].flatMap { name in Filter.all.first { $0.name == name } }
        cause = query["cause"]
        order = query["sort"].flatMap(Order.init) ?? .state
        page = query["page"].flatMap { Int($0) }.map { min(max($0, 1), 1_000_000) } ?? 1
    }

    /// The path and query that ask for this.
    var address: String {
        var items: [String] = []
        if !text.isEmpty { items.append("q=\(text.percentEncoded)") }
        if let filter { items.append("state=\(filter.name.percentEncoded)") }
        if let cause { items.append("cause=\(cause.percentEncoded)") }
        if order != .state { items.append("sort=\(order.rawValue)") }
        if page > 1 { items.append("page=\(page)") }
        return items.isEmpty ? "/" : "/?" + items.joined(separator: "&")
    }

    func with(_ change: (inout SourceQuery) -> Void) -> SourceQuery {
        var query = self
        query.page = 1
        change(&query)
        return query
    }
}
