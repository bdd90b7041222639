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
        var summary: String
        var parameters: [Parameter]
        var responses: [String: Answer]

        init(_ operation: APIOperation) {
            summary = operation.summary
            parameters = operation.parameters.map(Parameter.init)
            let (type, schema) =
                switch operation.content {
                case .object: ("application/json", Schema(type: "object"))
                case .lines: ("application/jsonl", Schema(type: "object"))
                case .events: ("text/event-stream", Schema(type: "string"))
                }
            responses = [
                "200": Answer(description: "What was asked for.", content: [type: Media(schema: schema)]),
                "default": Answer(
                    description: "Why it is not answered (RFC 9457).",
                    content: ["application/problem+json": Media(schema: Schema(ref: "#/components/schemas/Problem"))]),
            ]
        }
    }

    private struct Parameter: Encodable {
        var name: String
        var place: String
        var description: String
        var required: Bool
        var schema: Schema

        init(_ parameter: APIOperation.Parameter) {
            name = parameter.name
            place = parameter.isInPath ? "path" : "query"
            description = parameter.meaning
            required = parameter.isInPath
            let kind = parameter.kind.rawValue
            schema = parameter.isRepeated ? Schema(type: "array", items: ["type": kind]) : Schema(type: kind)
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

    private struct Media: Encodable { var schema: Schema }

    private struct Schema: Encodable {
        var type: String?
        var items: [String: String]?
        var properties: [String: [String: String]]?
        var ref: String?

        enum CodingKeys: String, CodingKey {
            case type, items, properties
            case ref = "$ref"
        }
    }

    private struct Components: Encodable {
        var schemas = [
            "Problem": Schema(
                type: "object",
                properties: [
                    "type": ["type": "string"], "title": ["type": "string"], "status": ["type": "integer"],
                    "detail": ["type": "string"], "error": ["type": "string"],
                ])
        ]
        var securitySchemes = [
            "bearer": ["type": "http", "scheme": "bearer"], "basic": ["type": "http", "scheme": "basic"],
        ]
    }
}
