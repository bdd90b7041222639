import FeedStores
import TributaryEngine

/// A schema of JSON (JSON Schema, draft 2020-12), as far as answers need one. Fields are only ever added, so every object may
/// have more than its schema names.
struct JSONSchema: Encodable, Sendable {
    private let object: JSONObject

    private init(_ object: JSONObject) { self.object = object }

    func encode(to encoder: any Encoder) throws { try object.encode(to: encoder) }

    static let string = JSONSchema(["type": "string"])
    static let integer = JSONSchema(["type": "integer"])
    static let number = JSONSchema(["type": "number"])
    static let boolean = JSONSchema(["type": "boolean"])
    /// A time as RFC 3339 writes it.
    static let time = JSONSchema(["type": "string", "format": "date-time"])
    /// Any value.
    static let any = JSONSchema([:])

    static func nullable(_ schema: JSONSchema) -> JSONSchema { .either([schema, JSONSchema(["type": "null"])]) }

    static func choice(_ values: [String]) -> JSONSchema { JSONSchema(["type": "string", "enum": values]) }

    static func array(_ items: JSONSchema) -> JSONSchema { JSONSchema(["type": "array", "items": items]) }

    /// An object whose members have names of a feed's or a table's.
    static func map(_ values: JSONSchema) -> JSONSchema {
        JSONSchema(["type": "object", "additionalProperties": values])
    }

    static func either(_ schemas: [JSONSchema]) -> JSONSchema { JSONSchema(["anyOf": schemas]) }

    static func object(required: [String: JSONSchema], optional: [String: JSONSchema]) -> JSONSchema {
        JSONSchema([
            "type": "object", "properties": required.merging(optional) { first, _ in first },
            "required": required.isEmpty ? nil : required.keys.sorted(), "additionalProperties": true,
        ])
    }

    /// A schema among the components, by its name.
    static func named(_ name: String) -> JSONSchema { JSONSchema(["$ref": "#/components/schemas/\(name)"]) }
}

extension [String: JSONSchema] {
    /// Creates the schemas of an answer's fields that have the names and values of a table's columns.
    ///
    /// - Parameter others: the schemas of the other fields.
    init(columns names: String..., of table: OwnTable, and others: [String: JSONSchema] = [:]) {
        self = others
        for name in names {
            guard let column = table.columns.first(where: { $0.name == name }) else {
                preconditionFailure("\(table.name) has no column \(name)")
            }
            self[name] = JSONSchema(column)
        }
    }
}

extension JSONSchema {
    fileprivate init(_ column: OwnColumn) {
        let schema: JSONSchema =
            switch column.type {
            case .text, .transaction: .string
            case .integer: .integer
            case .real: .number
            case .boolean: .boolean
            case .time: .time
            case .texts: .array(.string)
            case .json, .key: .any
            }
        self = column.isNullable ? .nullable(schema) : schema
    }
}
