import FeedModel
import FeedStores
import Foundation
import Hummingbird
import TributaryEngine

/// The rows of tables that sources write, for programs.
extension API {
    /// The most rows of one answer; a table's address with a suffix has all.
    private static let mostRows = 10_000

    var rowOperations: [APIOperation] {
        [
            .init(.get, "/api/tables", "The tables that sources have written.", [], tables),
            APIOperation(
                method: .get, path: "/api/tables/{name}/rows",
                summary: "Rows of a table, and the position of the next page.",
                parameters: [
                    .init("name", "The name of the table.", isInPath: true),
                    .init("column", "The column of a condition; 'is' and 'value' follow it.", isRepeated: true),
                    .init("is", "eq, lt, gt, contains or null.", isRepeated: true),
                    .init("value", "The value of the condition.", isRepeated: true),
                    .init("sort", "The column to sort by."), .init("order", "asc or desc."),
                    .init("after", "The position after which the rows start: 'next' of the previous response."),
                    .init("limit", "The maximum number of rows: 100 by default, at most 10,000.", .integer),
                ], answer: rows),
        ]
    }

    private func tables(_: Query) async throws -> Response {
        .json(
            try await store.browse { store in
                let tables = try store.browsedTables().map { table -> JSONObject in
                    [
                        "name": table.name, "columns": table.columns.map { ["name": $0.name, "type": $0.type] },
                        "key": table.key, "sources": table.sources,
                    ]
                }
                return try JSONOutput.line(["tables": tables])
            })
    }

    private func rows(_ request: Request, _ query: Query, _ context: PageContext) async throws -> Response {
        let names = request.names
        guard names.count == 4 else { throw Query.Problem("unknown path; GET /api lists the operations", .notFound) }
        let address = try RowAddress(table: names[2], query, most: Self.mostRows, in: service.configuration)
        return .json(
            try await store.browse(isSearch: address.isSearch) { store in
                guard let table = try store.browsedTable(address.table) else {
                    throw Query.Problem("no source has written a table '\(address.table)'", .notFound)
                }
                let limit = address.limit ?? TablePage.rowsPerPage
                let (rows, next) = try TablePage.rows(address, limit: limit, in: store)
                let columns = table.columns.map(\.name)
                let objects = rows.map { FileFormat.object(columns, $0.values) }.joined(separator: ",")
                let place = next.map { FileFormat.quoted($0.text) } ?? "null"
                return "{\"next\":\(place),\"rows\":[\(objects)],\"table\":\(FileFormat.quoted(table.name))}"
            })
    }
}
