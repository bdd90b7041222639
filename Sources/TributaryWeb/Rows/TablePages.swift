import FeedModel
import FeedStores
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TributaryEngine

/// The pages below `/tables`, and the same rows for programs by a suffix of the address: `/tables/product.csv`.
struct TablePages: Sendable {
    private(set) var pages: Pages
    /// False where `[daemon] rows` is false.
    let isShown: Bool

    func add(to router: Router<PageContext>) {
        router.get("/tables") { request, context in try await answer(request, context) { try await $0.list(request) } }
        router.get("/tables/**") { request, context in
            try await answer(request, context) { try await $0.show(request) }
        }
    }

    private func answer(
        _ request: Request, _ context: PageContext, _ body: (TablePages) async throws -> Response
    ) async throws -> Response {
        var own = self
        own.pages = pages.seen(by: context)
        guard isShown else { return own.pages.missing(Pages.rowsAreOff) }
        let name = request.uri.path.split(separator: "/").dropFirst().first.map { $0.removingPercentEncoding ?? "" }
        do {
            return try await body(own)
        } catch let problem as Query.Problem {
            return own.pages.missing(problem.message, problem.status, at: Self.place(name))
        } catch let problem as RowQuery.Problem {
            return own.pages.missing(
                problem.description, problem.isLate ? .serviceUnavailable : .badRequest,
                title: problem.isLate ? "The search took too long" : nil, at: Self.place(name))
        } catch let error as StoreError {
            pages.logger.error("Rows cannot be shown", metadata: ["error": "\(error)"])
            return own.pages.failed(error, at: Self.place(name))
        }
    }

    private func list(_ request: Request) async throws -> Response {
        let page = try await pages.store.browse { [templates = pages.templates] store in
            try TableListPage(Query(request), in: store, templates: templates).page()
        }
        return pages.answer(
            page, at: [Layout.Place(name: "Tables", address: "/tables", isHere: true)])
    }

    private func show(_ request: Request) async throws -> Response {
        let names = request.uri.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        let query = Query(request)
        switch names.count {
        case 2: return try await rows(names[1], query)
        case 3 where names[2] == "row": return try await row(names[1], query)
        default: return pages.missing("There is no such page.")
        }
    }

    private func rows(_ name: String, _ query: Query) async throws -> Response {
        let configuration = pages.service.configuration
        if let (table, format) = try await format(of: name) {
            return try await Self.download(
                table, format, RowAddress(table: table.name, query, in: configuration), pages.store)
        }
        let address = try RowAddress(table: name, query, most: TablePage.rowsPerPage, isPage: true, in: configuration)
        let page = try await pages.store.browse(isSearch: address.isSearch) { [templates = pages.templates] store in
            try TablePage(address, in: store, templates: templates)?.page()
        }
        guard let page else {
            return pages.missing("No source has written a table '\(name)'.", at: Self.place(nil))
        }
        return pages.answer(page, at: Self.place(name, isHere: true))
    }

    /// Returns the table and the format of a name with a suffix; nil for a table that has the suffix in its name, and for
    /// names without one.
    private func format(of name: String) async throws -> (BrowsedTable, RowFormat)? {
        guard let format = RowFormat.allCases.first(where: { name.hasSuffix("." + $0.rawValue) }) else { return nil }
        let base = String(name.dropLast(format.rawValue.count + 1))
        return try await pages.store.browse { store in
            guard try store.browsedTable(name) == nil, let table = try store.browsedTable(base) else { return nil }
            return (table, format)
        }
    }

    /// Answers with all rows that are asked for, piece by piece.
    static func download(
        _ table: BrowsedTable, _ format: RowFormat, _ address: RowAddress, _ store: StoreQueue
    ) async throws -> Response {
        let lines = RowLines(address: address, columns: table.columns.map(\.name), format: format, store: store)
        // What cannot be read at all is an error, not an answer that breaks off.
        let first = try await lines.first()
        return Response(
            status: .ok, headers: [.contentType: format.contentType],
            body: ResponseBody { writer in try await lines.write(to: &writer, first) })
    }

    private func row(_ name: String, _ query: Query) async throws -> Response {
        try query.check(["key", "changelog"])
        guard let key = query["key"].flatMap({ RowPlace($0) }), key.sorted == nil else {
            throw Query.Problem("'key' must be the key of a row; follow a link on the table's page")
        }
        let keys = pages.service.configuration.declaredKeys(of: name)
        let isWhole = query["changelog"] == "all"
        let page = try await pages.store.browse(isSearch: isWhole) { [templates = pages.templates] store in
            try RowPage(name, key.key, declared: keys, searchesAll: isWhole, in: store, templates: templates)?.page()
        }
        guard let page else {
            return pages.missing("There is no such row, or no such table.", at: Self.place(name))
        }
        return pages.answer(page, at: Self.place(name) + [Layout.Place(name: "Row", address: "", isHere: true)])
    }

    /// - Parameter table: nil for the list of them.
    private static func place(_ table: String?, isHere: Bool = false) -> [Layout.Place] {
        [Layout.Place(name: "Tables", address: "/tables", isHere: false)]
            + (table.map { [Layout.Place(name: $0, address: RowAddress.path($0), isHere: isHere)] } ?? [])
    }
}
