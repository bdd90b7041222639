import FeedConfiguration
import FeedStores

/// The page of the tables that sources have written, some at a time, by name.
struct TableListPage {
    private static let tablesPerPage = 100

    private let tables: [BrowsedTable]
    private let search: String
    private let first: Int
    private let count: Int

    /// Reads what the page shows; blocks its thread.
    ///
    /// - Throws: ``Query/Problem``, `StoreError`.
    init(_ query: Query, in store: any StoreBrowsing) throws {
        search = query["q"] ?? ""
        let part = search.lowercased()
        let names = try store.browsedNames().keys.filter { part.isEmpty || $0.lowercased().contains(part) }.sorted()
        count = names.count
        let page = try query.number("page", upTo: 1_000_000) ?? 1
        first = (min(page, (count - 1) / Self.tablesPerPage + 1) - 1) * Self.tablesPerPage
        tables = try store.browsedTables(Set(names.dropFirst(first).prefix(Self.tablesPerPage)))
    }

    private func address(_ first: Int) -> String {
        let page = first > 0 ? String(first / Self.tablesPerPage + 1) : nil
        return Query([("q", search.isEmpty ? nil : search), ("page", page)]).address("/tables")
    }

    func page(_ templates: Templates) -> Page {
        let views: [View] = tables.map { table in
            [
                "name": table.name, "address": RowAddress.path(table.name), "columns": table.columns.count,
                "key": table.key.joined(separator: ", "), "sources": View.sources(table.sources),
            ]
        }
        let last = min(first + Self.tablesPerPage, count)
        let view: View = [
            "search": search, "tables": views, "isEmpty": views.isEmpty, "hasTables": count > 0 || !search.isEmpty,
            "from": first + 1, "to": last, "count": count,
            "previous": first > 0 ? address(max(0, first - Self.tablesPerPage)) : nil,
            "next": last < count ? address(last) : nil,
        ]
        return Page(title: "Tables", fragments: [templates.fragment("tables", view)])
    }
}
