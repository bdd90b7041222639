import FeedModel
import Foundation
import HTTPTypes
import TributaryEngine

extension JSONObject {
    /// The operations below `/api` as OpenAPI 3.1.0 describes them (https://spec.openapis.org/oas/v3.1.0).
    ///
    /// - Throws: where `answers.json` is wrong, which a test would have found.
    init(openAPI operations: [APIOperation]) throws {
        let schemas = try JSONDecoder().decode(AnswerSchemas.self, from: Data(PackageResources.answers_json))
        var paths: [String: [String: JSONObject]] = [:]
        for operation in operations {
            paths[operation.path, default: [:]][operation.method.rawValue.lowercased()] = [
                "operationId": operation.id, "summary": operation.summary,
                "parameters": operation.parameters.map(Self.description),
                "responses": [
                    "200": ["description": "The result.", "content": schemas.answers[operation.id]],
                    "default": ["description": "An error (RFC 9457).", "content": schemas.error],
                ] as [String: JSONObject],
            ]
        }
        self = [
            "openapi": "3.1.0", "info": ["title": "Tributary", "version": TributaryVersion.version], "paths": paths,
            "components": [
                "schemas": schemas.schemas,
                "securitySchemes": [
                    "bearer": ["type": "http", "scheme": "bearer"], "basic": ["type": "http", "scheme": "basic"],
                ],
            ] as JSONObject,
            // Nothing, or a token in one of two ways.
            "security": [[:], ["bearer": []], ["basic": []]] as [[String: [String]]],
        ]
    }

    private static func description(_ parameter: APIParameter) -> JSONObject {
        let schema: JSONObject = ["type": parameter.kind.rawValue]
        return [
            "name": parameter.name, "in": parameter.isInPath ? "path" : "query", "description": parameter.meaning,
            "required": parameter.isInPath,
            "schema": parameter.isRepeated ? ["type": "array", "items": schema] as JSONObject : schema,
        ]
    }
}

/// The file `answers.json`: what operations answer, and the schemas to which that refers (JSON Schema, draft 2020-12).
/// Fields are only ever added, so every object may have more than its schema names.
struct AnswerSchemas: Decodable {
    /// The contents of the answers by the operations' identifiers.
    let answers: [String: JSONValue]
    let error: JSONValue
    let schemas: [String: JSONValue]
}

/// A value of JSON that has no numbers and no null.
enum JSONValue: Codable, Equatable, Sendable {
    case object([String: JSONValue])
    case array([JSONValue])
    case string(String)
    case boolean(Bool)

    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let members = try? container.decode([String: JSONValue].self) {
            self = .object(members)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else {
            self = .boolean(try container.decode(Bool.self))
        }
    }

    func encode(to encoder: any Encoder) throws {
        switch self {
        case .object(let members): try members.encode(to: encoder)
        case .array(let elements): try elements.encode(to: encoder)
        case .string(let text): try text.encode(to: encoder)
        case .boolean(let value): try value.encode(to: encoder)
        }
    }
}
