import FeedModel
import FeedStores
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TributaryEngine

/// The pages below `/tables`, and the same rows for programs by a suffix of the address: `/tables/product.csv`.
struct TablePages: Sendable {
    let pages: Pages

    func add(to router: Router<PageContext>) {
        for path: RouterPath in ["/tables", "/tables/**"] {
            router.get(path) { request, context in
                let seen = pages.seen(by: context)
                guard seen.showsRows else { return seen.missing(Pages.rowsAreOff) }
                return try await seen.answering(request) { try await TablePages(pages: seen).show(request) }
            }
        }
    }

    private func show(_ request: Request) async throws -> Response {
        let names = request.names
        let query = Query(request)
        let way = Link.way(to: names)
        switch names.count {
        case 1:
            let page = try await pages.store.browse { [templates = pages.templates] store in
                try TableListPage.page(query, in: store, templates)
            }
            return pages.answer(page, at: way)
        case 2: return try await rows(names[1], query, way)
        case 3 where names[2] == "row": return try await row(names[1], query, way)
        default: return pages.missing("There is no such page.")
        }
    }

    private func rows(_ name: String, _ query: Query, _ way: [Link]) async throws -> Response {
        let configuration = pages.service.configuration
        if let (table, format) = try await format(of: name) {
            return try await Self.download(
                table, format, RowAddress(table: table.name, query, in: configuration), pages.store)
        }
        let address = try RowAddress(table: name, query, most: TablePage.rowsPerPage, isPage: true, in: configuration)
        let page = try await pages.store.browse(isSearch: address.isSearch) { [templates = pages.templates] store in
            try TablePage(address, in: store)?.page(templates)
        }
        guard let page else {
            return pages.missing("No source has written a table '\(name)'.", at: Array(way.prefix(1)))
        }
        return pages.answer(page, at: way)
    }

    /// Returns the table and the format of a name with a suffix; nil for a table that has the suffix in its name, and for
    /// names without one.
    private func format(of name: String) async throws -> (BrowsedTable, FileFormat)? {
        let (base, suffix) = FileFormat.split(name)
        guard let format = suffix else { return nil }
        return try await pages.store.browse { store in
            guard try store.browsedTable(name) == nil, let table = try store.browsedTable(base) else { return nil }
            return (table, format)
        }
    }

    /// Answers with all rows that are asked for, piece by piece.
    static func download(
        _ table: BrowsedTable, _ format: FileFormat, _ address: RowAddress, _ store: StoreQueue
    ) async throws -> Response {
        let lines = RowLines(address, columns: table.columns.map(\.name), format: format, in: store)
        return try await .pieces(of: lines, format.contentType)
    }

    private func row(_ name: String, _ query: Query, _ way: [Link]) async throws -> Response {
        try query.check(["key", "changelog"])
        guard let key = query["key"].flatMap({ RowPlace($0) }), key.sorted == nil else {
            throw Query.Problem("'key' must be the key of a row; follow a link on the table's page")
        }
        let keys = pages.service.configuration.declaredKeys(of: name)
        let decimals = pages.service.configuration.decimals(of: name)
        let isWhole = query["changelog"] == "all"
        let page = try await pages.store.browse(isSearch: isWhole) { [templates = pages.templates] store in
            try RowPage(
                name, key.key, declared: keys, decimals: decimals, searchesAll: isWhole, in: store
            )?.page(templates)
        }
        guard let page else {
            return pages.missing("There is no such row, or no such table.", at: way)
        }
        return pages.answer(page, at: way)
    }
}
