import FeedModel
import HTTPTypes
import Hummingbird

/// What programs can ask of the daemon: a route with all that is said of it. The routes, the list at `/api` and the
/// OpenAPI document are made from it.
struct APIOperation: Sendable {
    struct Parameter: Sendable, Encodable {
        enum Kind: String, Sendable, Encodable { case string, integer, boolean }

        private enum CodingKeys: String, CodingKey {
            case name, meaning
            case kind = "type"
        }

        var name: String
        var kind: Kind
        var meaning: String
        /// True where it may be given more than once.
        var isRepeated = false
        /// True for a part of the path.
        var isInPath = false

        init(
            _ name: String, _ meaning: String, _ kind: Kind = .string, isRepeated: Bool = false, isInPath: Bool = false
        ) {
            self.name = name
            self.kind = kind
            self.meaning = meaning
            self.isRepeated = isRepeated
            self.isInPath = isInPath
        }
    }

    /// What is answered.
    enum Content: Sendable {
        case object(JSONSchema)
        /// Objects, one a line.
        case lines(JSONSchema)
        /// Server-sent events.
        case events
    }

    var method: HTTPRequest.Method
    /// With the names of its parameters in braces: `/api/tables/{name}/rows`.
    var path: String
    var summary: String
    var parameters: [Parameter]
    var content: Content
    /// Answers a request whose parameters are known.
    var answer: @Sendable (Request, Query, PageContext) async throws -> Response

    static func get(
        _ path: String, _ summary: String, _ parameters: [Parameter] = [], answers content: Content,
        _ answer: @escaping @Sendable (Request, Query) async throws -> Response
    ) -> APIOperation {
        APIOperation(
            method: .get, path: path, summary: summary, parameters: parameters, content: content
        ) { request, query, _ in try await answer(request, query) }
    }

    /// An operation that answers with server-sent events until its client may no longer see them.
    static func events(
        _ path: String, _ summary: String, _ parameters: [Parameter],
        _ answer: @escaping @Sendable (Request, Query, PageContext) async throws -> Response
    ) -> APIOperation {
        APIOperation(
            method: .get, path: path, summary: summary, parameters: parameters, content: .events, answer: answer)
    }

    static func post(
        _ path: String, _ summary: String, _ parameters: [Parameter], answers schema: JSONSchema,
        _ answer: @escaping @Sendable (Request, Query) async throws -> Response
    ) -> APIOperation {
        APIOperation(
            method: .post, path: path, summary: summary, parameters: parameters, content: .object(schema)
        ) { request, query, _ in try await answer(request, query) }
    }

    /// A name for programs that are generated, such as `getTablesNameRows`.
    var id: String {
        let words = path.split { "/{}.".contains($0) }.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        return method.rawValue.lowercased() + (words.isEmpty ? "Index" : words.joined())
    }

    /// - Throws: ``Query/Problem`` for a parameter that the operation does not have.
    func check(_ query: Query) throws {
        try query.check(parameters.filter { !$0.isInPath }.map(\.name))
    }
}

/// The list of what programs can ask, at `/api`.
struct APIIndex: Encodable {
    private var version = TributaryVersion.version
    private var openapi = "/api/openapi.json"
    private var operations: [APIOperation]

    init(_ operations: [APIOperation]) { self.operations = operations }
}

extension APIOperation: Encodable {
    private enum CodingKeys: String, CodingKey { case method, path, summary, parameters }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(method.rawValue, forKey: .method)
        try container.encode(path, forKey: .path)
        try container.encode(summary, forKey: .summary)
        try container.encode(parameters, forKey: .parameters)
    }
}
