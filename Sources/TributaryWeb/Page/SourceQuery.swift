import FeedConfiguration
import TributaryEngine

/// Which sources the list shows, and in which order.
struct SourceQuery: Sendable {
    enum Order: String, CaseIterable {
        case state, name, success, due
    }

    static let running = "running"
    /// What may be filtered by: `running`, and the conditions.
    static let filters = [running] + SourceCondition.allCases.map(\.rawValue)
    static let rowsPerPage = 100

    var text = ""
    /// One of ``filters``.
    var filter: String?
    /// The text of a ``ProblemCause``.
    var cause: String?
    var order = Order.state
    /// Counted from 1.
    var page = 1

    /// - Throws: ``Query/Problem``.
    init(_ query: Query) throws {
        text = query["q"] ?? ""
        filter = try query.choice("state", among: Self.filters)
        cause = query["cause"]
        order = try query.choice("sort") ?? .state
        page = try query.number("page", upTo: 1_000_000) ?? 1
    }

    /// The path and query that ask for this.
    var address: String {
        Query([
            ("q", text.isEmpty ? nil : text), ("state", filter), ("cause", cause),
            ("sort", order == .state ? nil : order.rawValue), ("page", page > 1 ? String(page) : nil),
        ]).address("/")
    }

    func with(_ change: (inout SourceQuery) -> Void) -> SourceQuery {
        var query = self
        query.page = 1
        change(&query)
        return query
    }
}
