import FeedModel
import HTTPTypes
import TributaryEngine

extension JSONObject {
    /// The operations below `/api` as OpenAPI 3.1.0 describes them (https://spec.openapis.org/oas/v3.1.0).
    init(openAPI operations: [APIOperation]) {
        var paths: [String: [String: JSONObject]] = [:]
        for operation in operations {
            paths[operation.path, default: [:]][operation.method.rawValue.lowercased()] = Self.description(operation)
        }
        self = [
            "openapi": "3.1.0", "info": ["title": "Tributary", "version": TributaryVersion.version], "paths": paths,
            "components": [
                "schemas": AnswerSchemas.components,
                "securitySchemes": [
                    "bearer": ["type": "http", "scheme": "bearer"], "basic": ["type": "http", "scheme": "basic"],
                ],
            ] as JSONObject,
            // Nothing, or a token in one of two ways.
            "security": [[:], ["bearer": []], ["basic": []]] as [[String: [String]]],
        ]
    }

    private static func description(_ operation: APIOperation) -> JSONObject {
        func answer(_ description: String, _ type: String, _ schema: JSONSchema) -> JSONObject {
            ["description": description, "content": [type: ["schema": schema]]]
        }
        return [
            "operationId": operation.id, "summary": operation.summary,
            "parameters": operation.parameters.map(description),
            "responses": [
                "200": answer("The result.", operation.content.type, operation.content.schema),
                "default": answer("An error (RFC 9457).", "application/problem+json", .named("Problem")),
            ],
        ]
    }

    private static func description(_ parameter: APIOperation.Parameter) -> JSONObject {
        [
            "name": parameter.name, "in": parameter.isInPath ? "path" : "query", "description": parameter.meaning,
            "required": parameter.isInPath,
            "schema": parameter.isRepeated ? JSONSchema.array(parameter.kind.schema) : parameter.kind.schema,
        ]
    }
}
