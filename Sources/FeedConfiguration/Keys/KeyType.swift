import FeedModel

/// The type of a key's value: what the reference says of it, and its JSON Schema.
struct KeyType: Sendable {
    /// The tables that the value of a key has.
    enum Tables: Sendable {
        case one
        case array
        /// Tables whose names the file chooses.
        case named
    }

    /// The type, as the reference writes it.
    let text: String
    /// The texts of which the value, or each of its elements, is one; nil for other values.
    var choices: [String]?
    /// The keys of the tables that the value has.
    var group: (any KeyGroup.Type)?
    var tables: Tables?
    /// The key for which a string alone stands, in place of a table.
    var short: String?
    let schema: @Sendable () -> [String: Any]

    /// Text that is replaced before the value is looked at.
    static let variable = "\\$\\{"

    var isBoolean: Bool { text == Self.boolean.text }

    static let string = KeyType(text: "string") { ["type": "string"] }
    static let boolean = KeyType(text: "boolean") { ["type": "boolean"] }
    static let duration = KeyType(text: "duration") {
        ["type": "string", "pattern": "^[0-9]+(ms|s|m|h|d|y)$|\(variable)"]
    }
    static let size = KeyType(text: "size") { ["type": "string", "pattern": "^[0-9]+(B|KiB|MiB|GiB)$|\(variable)"] }
    static let strings = KeyType(text: "array of strings") { ["type": "array", "items": ["type": "string"]] }
    static let integers = KeyType(text: "array of integers") { ["type": "array", "items": ["type": "integer"]] }
    static let texts = KeyType(text: "table of strings") { ["type": "object", "additionalProperties": scalar] }
    static let constant = KeyType(text: "string, number or boolean") { scalar }
    static let constants = KeyType(text: "table of values") { ["type": "object", "additionalProperties": scalar] }
    static let changeLimit = KeyType(text: "integer, or string such as `\"10%\"`") {
        ["type": ["integer", "string"], "minimum": 0]
    }
    static let elements = KeyType(text: "table of elements") { ["type": "object"] }
    static let any = KeyType(text: "any") { [:] }
    static let booleanOrStrings = KeyType(text: "boolean or array of strings") {
        ["type": ["boolean", "array"], "items": ["type": "string"]]
    }
    /// A text, or a table of texts whose names the file chooses.
    static let stringOrTexts = KeyType(text: "string or table of strings") {
        ["type": ["string", "object"], "additionalProperties": ["type": "string"]]
    }

    static func integer(_ range: ClosedRange<Int>) -> KeyType {
        KeyType(text: "integer") { ["type": "integer", "minimum": range.lowerBound, "maximum": range.upperBound] }
    }

    static func choice(_ names: [String]) -> KeyType {
        KeyType(text: "string: " + names.map { "`\"\($0)\"`" }.alternatives, choices: names) { oneOf(names) }
    }

    /// An array of these texts.
    static func choices(_ names: [String]) -> KeyType {
        KeyType(text: strings.text, choices: names) { ["type": "array", "items": oneOf(names)] }
    }

    /// True, or one of these texts.
    static func flag(or names: [String]) -> KeyType {
        KeyType(text: (["`true`"] + names.map { "`\"\($0)\"`" }).alternatives) { ["enum": [true] + names] }
    }

    /// A boolean, or a text that is described in words.
    static func booleanOrString(_ text: String) -> KeyType {
        KeyType(text: "boolean; \(text)") { ["type": ["boolean", "string"]] }
    }

    /// - Parameter short: the key for which a string alone stands.
    static func table(_ group: any KeyGroup.Type, short: String?) -> KeyType {
        let text = short == nil ? "table" : "string or table"
        return KeyType(text: text, group: group, tables: .one, short: short) { reference(to: group, short) }
    }

    static func tables(_ group: any KeyGroup.Type) -> KeyType {
        KeyType(text: "array of tables", group: group, tables: .array) {
            ["type": "array", "items": reference(to: group, nil)]
        }
    }

    /// A table of tables, whose names the file chooses.
    static func named(_ group: any KeyGroup.Type, short: String?) -> KeyType {
        KeyType(text: "table", group: group, tables: .named, short: short) {
            ["type": "object", "additionalProperties": reference(to: group, short)]
        }
    }

    private static var scalar: [String: Any] { ["type": ["string", "number", "boolean"]] }

    private static func oneOf(_ names: [String]) -> [String: Any] {
        ["anyOf": [["enum": names], ["type": "string", "pattern": variable]]]
    }

    private static func reference(to group: any KeyGroup.Type, _ short: String?) -> [String: Any] {
        let reference = ["$ref": "#/$defs/\(group.table.path)"]
        return short == nil ? reference : ["anyOf": [["type": "string"], reference]]
    }
}
