import FeedConfiguration
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

    /// - Throws: ``Query/Problem``.
    init(_ query: Query) throws {
        text = query["q"] ?? ""
        let state = try query.choice("state", among: Filter.all.map(\.name))
        filter = Filter.all.first { $0.name == state }
        cause = query["cause"]
        order = try query.choice("sort") ?? .state
        page = try query.number("page", upTo: 1_000_000) ?? 1
    }

    /// The path and query that ask for this.
    var address: String {
        Query([
            ("q", text.isEmpty ? nil : text), ("state", filter?.name), ("cause", cause),
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
