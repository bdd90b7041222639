import FeedModel
import HTTPTypes

/// The operations below `/api` as OpenAPI 3.1.0 describes them (https://spec.openapis.org/oas/v3.1.0).
struct OpenAPIDocument: Encodable {
    private var openapi = "3.1.0"
    private var info = Info(title: "Tributary", version: TributaryVersion.version)
    private var paths: [String: [String: Operation]] = [:]
    private var components = Components()
    /// Nothing, or a token in one of two ways.
    private var security: [[String: [String]]] = [[:], ["bearer": []], ["basic": []]]

    init(_ operations: [APIOperation]) {
        for operation in operations {
            paths[operation.path, default: [:]][operation.method.rawValue.lowercased()] = Operation(operation)
        }
    }

    private struct Info: Encodable {
        var title: String
        var version: String
    }

    private struct Operation: Encodable {
        var operationId: String
        var summary: String
        var parameters: [Parameter]
        var responses: [String: Answer]

        init(_ operation: APIOperation) {
            operationId = operation.id
            summary = operation.summary
            parameters = operation.parameters.map(Parameter.init)
            let (type, schema) =
                switch operation.content {
                case .object(let schema): ("application/json", schema)
                case .lines(let schema): ("application/jsonl", schema)
                case .events: ("text/event-stream", JSONSchema.string)
                }
            responses = [
                "200": Answer(description: "The result.", content: [type: Media(schema: schema)]),
                "default": Answer(
                    description: "An error (RFC 9457).",
                    content: ["application/problem+json": Media(schema: .named("Problem"))]),
            ]
        }
    }

    private struct Parameter: Encodable {
        var name: String
        var place: String
        var description: String
        var required: Bool
        var schema: JSONSchema

        init(_ parameter: APIOperation.Parameter) {
            name = parameter.name
            place = parameter.isInPath ? "path" : "query"
            description = parameter.meaning
            required = parameter.isInPath
            let kind: JSONSchema =
                switch parameter.kind {
                case .string: .string
                case .integer: .integer
                case .boolean: .boolean
                }
            schema = parameter.isRepeated ? .array(kind) : kind
        }

        enum CodingKeys: String, CodingKey {
            case name
            case place = "in"
            case description, required, schema
        }
    }

    private struct Answer: Encodable {
        var description: String
        var content: [String: Media]
    }

    private struct Media: Encodable { var schema: JSONSchema }

    private struct Components: Encodable {
        var schemas = AnswerSchemas.components
        var securitySchemes = [
            "bearer": ["type": "http", "scheme": "bearer"], "basic": ["type": "http", "scheme": "basic"],
        ]
    }
}
