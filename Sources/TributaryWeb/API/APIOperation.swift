import FeedModel
import HTTPTypes
import Hummingbird
import TributaryEngine

/// What programs can ask of the daemon: a route with all that is said of it. The routes, the list at `/api` and the
/// OpenAPI document are made from it.
struct APIOperation: Sendable {
    var method: HTTPRequest.Method
    /// With the names of its parameters in braces: `/api/tables/{name}/rows`.
    var path: String
    var summary: String
    var parameters: [APIParameter]
    /// Answers a request whose parameters are known.
    var answer: @Sendable (Request, Query, PageContext) async throws -> Response

    /// A name for programs that are generated, and in `answers.json`, such as `getTablesNameRows`.
    var id: String {
        let words = path.split { "/{}.".contains($0) }.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return method.rawValue.lowercased() + (words.isEmpty ? "Index" : words.joined())
    }

    /// - Throws: ``Query/Problem`` for a parameter that the operation does not have.
    func check(_ query: Query) throws {
        try query.check(parameters.filter { !$0.isInPath }.map(\.name))
    }
}

extension APIOperation {
    init(
        _ method: HTTPRequest.Method, _ path: String, _ summary: String, _ parameters: [APIParameter] = [],
        _ answer: @escaping @Sendable (Query) async throws -> Response
    ) {
        self.init(method: method, path: path, summary: summary, parameters: parameters) { _, query, _ in
            try await answer(query)
        }
    }
}

extension JSONObject {
    /// The list of what programs can ask, at `/api`.
    init(indexOf operations: [APIOperation]) {
        self = [
            "version": TributaryVersion.version, "openapi": "/api/openapi.json",
            "operations": operations.map { operation -> JSONObject in
                let parameters = operation.parameters.map {
                    ["name": $0.name, "type": $0.kind.rawValue, "meaning": $0.meaning]
                }
                return [
                    "method": operation.method.rawValue, "path": operation.path, "summary": operation.summary,
                    "parameters": parameters,
                ]
            },
        ]
    }
}
