import FeedStores

/// A schema of JSON (JSON Schema, draft 2020-12), as far as answers need one. Fields are only ever added, so every object may
/// have more than its schema names.
indirect enum JSONSchema: Sendable {
    case string, integer, number, boolean, null
    /// A time as RFC 3339 writes it.
    case time
    /// Any value.
    case any
    case choice([String])
    case array(JSONSchema)
    /// An object whose members have names of a feed's or a table's.
    case map(JSONSchema)
    case either([JSONSchema])
    case object(required: [String: JSONSchema], optional: [String: JSONSchema])
    /// A schema among the components, by its name.
    case named(String)

    static func nullable(_ schema: JSONSchema) -> JSONSchema { .either([schema, .null]) }
}

extension JSONSchema: Encodable {
    private enum Key: String, CodingKey {
        case type, format, items, properties, required, additionalProperties, anyOf
        case values = "enum"
        case reference = "$ref"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        if let type { try container.encode(type, forKey: .type) }
        switch self {
        case .string, .integer, .number, .boolean, .null, .any: break
        case .time: try container.encode("date-time", forKey: .format)
        case .choice(let values): try container.encode(values, forKey: .values)
        case .array(let items): try container.encode(items, forKey: .items)
        case .map(let values): try container.encode(values, forKey: .additionalProperties)
        case .either(let schemas): try container.encode(schemas, forKey: .anyOf)
        case .object(let required, let optional):
            try container.encode(required.merging(optional) { first, _ in first }, forKey: .properties)
            if !required.isEmpty { try container.encode(required.keys.sorted(), forKey: .required) }
            try container.encode(true, forKey: .additionalProperties)
        case .named(let name): try container.encode("#/components/schemas/\(name)", forKey: .reference)
        }
    }

    private var type: String? {
        switch self {
        case .string, .time, .choice: "string"
        case .integer: "integer"
        case .number: "number"
        case .boolean: "boolean"
        case .null: "null"
        case .array: "array"
        case .map, .object: "object"
        case .any, .either, .named: nil
        }
    }
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
