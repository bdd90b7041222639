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
        let required = table.entries.filter { if case .requiring = $0.fallback { true } else { false } }.map(\.name)
        if !required.isEmpty { schema["required"] = required }
        if !table.rules.isEmpty { schema["allOf"] = table.rules.map(\.schema) }
        return schema
    }

    private static func schema(of entry: KeyEntry) -> [String: Any] {
        var schema = entry.type.schema()
        schema["description"] = entry.meaning
        if case .value(let text) = entry.fallback {
            schema["default"] = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)
        }
        return schema
    }
}
