import FeedConfiguration
import FeedModel
import FeedStores

/// Which rows of a table are asked for, as an address says it:
/// `/tables/product?column=price&is=gt&value=10&sort=name&order=desc&after=PLACE`.
///
/// Names of columns are values of parameters, never names of parameters: a column may be called anything.
struct RowAddress: Sendable, Equatable {
    /// The most conditions of one question, and bytes of a value.
    static let mostFilters = 20
    static let longestValue = 4_096

    let table: String
    var filters: [RowQuery.Filter] = []
    var order: RowQuery.Order?
    var after: RowPlace?
    /// Nil where the address has none.
    var limit: Int?
    /// The column whose values are counted on a page.
    var facet: String?
    /// The columns, in lower case, that the configuration declares as decimals.
    var decimals: Set<String> = []

    init(table: String) { self.table = table }

    /// - Parameters:
    ///   - most: the largest limit that may be asked for.
    ///   - isPage: true where values may be counted.
    /// - Throws: ``Query/Problem``.
    init(
        table: String, _ query: Query, most: Int = .max, isPage: Bool = false, in configuration: TributaryConfiguration
    ) throws {
        self.table = table
        decimals = configuration.decimals(of: table)
        var column: String?
        var isDescending = false
        for name in ["sort", "order", "after", "facet", "limit"] where query.all(name).count > 1 {
            throw Query.Problem("'\(name)' is given more than once")
        }
        for (name, value) in query.items {
            switch name {
            case "column":
                // A line of the form that was left empty.
                column = value
                if !value.isEmpty { filters.append(RowQuery.Filter(column: value, .equal, "")) }
            case "is", "value":
                guard let column else { throw Query.Problem("'\(name)' needs a 'column' before it") }
                guard !column.isEmpty else { continue }
                if name == "value" {
                    guard value.utf8.count <= Self.longestValue else {
                        throw Query.Problem("'value' has more than \(Self.longestValue.grouped) bytes")
                    }
                    guard !value.utf8.contains(0) else { throw Query.Problem("'value' must not contain U+0000") }
                    filters[filters.count - 1].value = value
                } else {
                    filters[filters.count - 1].comparison = try Self.comparison(value)
                }
            case "sort": order = value.isEmpty ? nil : RowQuery.Order(value)
            case "order":
                guard ["asc", "desc", ""].contains(value) else {
                    throw Query.Problem("'order' must be asc or desc")
                }
                isDescending = value == "desc"
            case "after":
                guard let place = RowPlace(value) else {
                    throw Query.Problem("'after' must be the position of a row: use 'next' of the previous response")
                }
                after = place
            case "facet" where isPage: facet = value.isEmpty ? nil : value
            case "limit": limit = try query.number("limit", upTo: most)
            default:
                throw Query.Problem(
                    "unknown parameter '\(name)'; known here: column, is, value, sort, order, after, limit")
            }
        }
        order?.isDescending = isDescending
        guard filters.count <= Self.mostFilters else {
            throw Query.Problem("\(filters.count) conditions; at most \(Self.mostFilters) are possible")
        }
    }

    private static func comparison(_ name: String) throws -> RowQuery.Filter.Comparison {
        guard let comparison = RowQuery.Filter.Comparison(rawValue: name) else {
            let known = RowQuery.Filter.Comparison.allCases.map(\.rawValue).joined(separator: ", ")
            throw Query.Problem("'is' must be one of \(known)")
        }
        return comparison
    }

    /// True for a question that perhaps no index answers.
    var isSearch: Bool { !filters.isEmpty || order != nil || facet != nil }

    /// The question, for at most so many rows.
    func query(limit: Int) -> RowQuery {
        var query = RowQuery(table: table, limit: limit)
        query.filters = filters
        query.order = order
        query.after = after
        query.decimals = decimals
        return query
    }

    /// Returns the address of the rows to which a row of a table refers by a foreign key, or which refer to it.
    ///
    /// - Parameter columns: those that the rows are found by, one for each value.
    /// - Returns: nil where a value is none of a key.
    static func address(_ table: String, _ columns: [String], _ values: [StoredValue]) -> String? {
        var address = RowAddress(table: table)
        for (column, value) in zip(columns, values) {
            guard let text = value.filterText else { return nil }
            address.filters.append(RowQuery.Filter(column: column, .equal, text))
        }
        return address.address()
    }

    /// Returns the path of a table, or of something below it.
    static func path(_ table: String, _ rest: String = "") -> String { "/tables/" + table.percentEncoded + rest }

    /// Returns the path of a row's page.
    static func path(_ table: String, row key: [StoredValue]) -> String {
        path(table, "/row?key=" + RowPlace(key: key).text.percentEncoded)
    }

    /// Returns the path and query that ask for these rows.
    ///
    /// - Parameter suffix: what follows the table's name: `.csv`.
    func address(_ suffix: String = "") -> String {
        let conditions: [(name: String, value: String?)] = filters.flatMap { filter in
            [
                ("column", filter.column), ("is", filter.comparison.rawValue),
                ("value", filter.comparison == .null ? nil : filter.value),
            ]
        }
        return Query(
            conditions + [
                ("sort", order?.column), ("order", order?.isDescending == true ? "desc" : nil), ("after", after?.text),
                ("limit", limit.map(String.init)), ("facet", suffix.isEmpty ? facet : nil),
            ]
        ).address(Self.path(table, suffix))
    }

    func with(_ change: (inout RowAddress) -> Void) -> RowAddress {
        var address = self
        change(&address)
        return address
    }
}
