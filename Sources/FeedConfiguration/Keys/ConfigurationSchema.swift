package import Foundation

/// The JSON Schema of `sources.toml` (draft 2020-12), by which editors complete and check the file.
package enum ConfigurationSchema {
    /// The schema, in the same order whenever it is written.
    package static var json: Data {
        get throws {
            var schema = object(FileKeys.table)
            schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
            schema["title"] = "sources.toml of Tributary"
            schema["$defs"] = Dictionary(
                uniqueKeysWithValues: KeyTable.all.filter { $0.header != FileKeys.table.header }.map {
                    ($0.path, object($0))
                })
            return try JSONSerialization.data(
                withJSONObject: schema, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
                + Data("\n".utf8)
        }
    }

    private static func object(_ table: KeyTable) -> [String: Any] {
        var schema: [String: Any] = [
            "type": "object", "description": table.meaning, "additionalProperties": false,
            "properties": Dictionary(uniqueKeysWithValues: table.entries.map { ($0.name, self.schema(of: $0)) }),
        ]
        let required = table.entries.filter { if case .required = $0.fallback { true } else { false } }.map(\.name)
        if !required.isEmpty { schema["required"] = required }
        if !table.rules.isEmpty { schema["allOf"] = table.rules.map(\.schema) }
        return schema
    }

    private static func schema(of entry: KeyEntry) -> [String: Any] {
        var schema = values(entry.type)
        schema["description"] = entry.meaning
        if case .value(let text) = entry.fallback {
            schema["default"] = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        }
        return schema
    }

    /// What is replaced before the value is looked at.
    static let variable = "\\$\\{"

    private static func values(_ type: KeyType) -> [String: Any] {
        switch type {
        case .string: ["type": "string"]
        case .boolean: ["type": "boolean"]
        case .duration: ["type": "string", "pattern": "^[0-9]+(ms|s|m|h|d|y)$|\(variable)"]
        case .size: ["type": "string", "pattern": "^[0-9]+(B|KiB|MiB|GiB)$|\(variable)"]
        case .strings: ["type": "array", "items": ["type": "string"]]
        case .integers: ["type": "array", "items": ["type": "integer"]]
        case .texts: ["type": "object", "additionalProperties": ["type": ["string", "number", "boolean"]]]
        case .constant: ["type": ["string", "number", "boolean"]]
        case .constants: ["type": "object", "additionalProperties": ["type": ["string", "number", "boolean"]]]
        case .changeLimit: ["type": ["integer", "string"], "minimum": 0]
        case .elements: ["type": "object"]
        case .any: [:]
        case .integer(let range): ["type": "integer", "minimum": range.lowerBound, "maximum": range.upperBound]
        case .choice(let names): choice(among: names)
        case .choices(let names): ["type": "array", "items": choice(among: names)]
        case .flag(let names): ["enum": [true] + names]
        case .booleanOrString: ["type": ["boolean", "string"]]
        case .booleanOrStrings: ["type": ["boolean", "array"], "items": ["type": "string"]]
        case .stringOrTexts: ["type": ["string", "object"], "additionalProperties": ["type": "string"]]
        case .table(let group, let short): table(group.table, short)
        case .tables(let group): ["type": "array", "items": table(group.table, nil)]
        case .named(let group, let short): ["type": "object", "additionalProperties": table(group.table, short)]
        }
    }

    private static func choice(among names: [String]) -> [String: Any] {
        ["anyOf": [["enum": names], ["type": "string", "pattern": variable]]]
    }

    /// - Parameter short: the key for which a string alone stands.
    private static func table(_ table: KeyTable, _ short: String?) -> [String: Any] {
        let reference = ["$ref": "#/$defs/\(table.path)"]
        return short == nil ? reference : ["anyOf": [["type": "string"], reference]]
    }
}
