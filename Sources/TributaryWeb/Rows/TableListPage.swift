import FeedConfiguration
import FeedStores

/// The page of the tables that sources have written, some at a time, by name.
enum TableListPage {
    private static let tablesPerPage = 100
    /// The most rows of a table that are counted, and the time after which no further table's are.
    private static let mostCounted = 10_000
    private static let countLimit = Duration.seconds(1)

    /// Reads what the page shows; blocks its thread.
    ///
    /// - Throws: ``Query/Problem``, `StoreError`.
    static func page(_ query: Query, in store: any StoreBrowsing, _ templates: Templates) throws -> Page {
        let search = query["q"] ?? ""
        let part = search.lowercased()
        let names = try store.browsedNames().keys.filter { part.isEmpty || $0.lowercased().contains(part) }.sorted()
        let count = names.count
        let page = min(try query.number("page", upTo: 1_000_000) ?? 1, (count - 1) / tablesPerPage + 1)
        let first = (page - 1) * tablesPerPage
        let last = min(first + tablesPerPage, count)
        let end = ContinuousClock.now + countLimit
        let views: [View] = try store.browsedTables(Set(names[first..<last])).map { table in
            let query = RowQuery(table: table.name, limit: mostCounted)
            return [
                "name": table.name, "address": RowAddress.path(table.name), "columns": table.columns.count,
                "rows": ContinuousClock.now < end ? try TablePage.count(query, in: store) : nil,
                "key": table.key.joined(separator: ", "), "sources": View.sources(table.sources),
            ]
        }
        func address(_ page: Int) -> String {
            let number = page > 1 ? String(page) : nil
            return Query([("q", search.isEmpty ? nil : search), ("page", number)]).address("/tables")
        }
        let view: View = [
            "search": search, "tables": views, "isEmpty": views.isEmpty, "hasTables": count > 0 || !search.isEmpty,
            "from": first + 1, "to": last, "count": count, "previous": page > 1 ? address(page - 1) : nil,
            "next": last < count ? address(page + 1) : nil,
        ]
        return Page(title: "Tables", fragments: [templates.fragment("tables", view)])
    }
}
