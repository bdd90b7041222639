import FeedModel

/// What the value of a key may be.
enum KeyType: Sendable, CustomStringConvertible {
    case string, boolean, duration, size, strings, integers, texts, constant, constants, changeLimit, elements, any
    case booleanOrStrings
    /// A text, or a table of texts whose names the file chooses.
    case stringOrTexts
    case integer(ClosedRange<Int>)
    case choice([String])
    /// An array of these texts.
    case choices([String])
    /// True, or one of these texts.
    case flag(or: [String])
    /// A boolean, or a text that is described in words.
    case booleanOrString(String)
    /// - Parameter short: the key for which a string alone stands.
    case table(any KeyGroup.Type, short: String?)
    case tables(any KeyGroup.Type)
    /// A table of tables, whose names the file chooses.
    case named(any KeyGroup.Type, short: String?)

    /// The type, as the reference writes it.
    var description: String {
        switch self {
        case .string: "string"
        case .boolean: "boolean"
        case .duration: "duration"
        case .size: "size"
        case .strings, .choices: "array of strings"
        case .integers: "array of integers"
        case .texts: "table of strings"
        case .constant: "string, number or boolean"
        case .constants: "table of values"
        case .changeLimit: "integer, or string such as `\"10%\"`"
        case .elements: "table of elements"
        case .any: "any"
        case .integer: "integer"
        case .choice(let names): "string: " + Self.list(names.map { "`\"\($0)\"`" })
        case .flag(let names): Self.list(["`true`"] + names.map { "`\"\($0)\"`" })
        case .booleanOrString(let text): "boolean; \(text)"
        case .booleanOrStrings: "boolean or array of strings"
        case .stringOrTexts: "string or table of strings"
        case .table(_, let short): short == nil ? "table" : "string or table"
        case .tables: "array of tables"
        case .named: "table"
        }
    }

    static func list(_ names: [String]) -> String {
        names.dropLast().joined(separator: ", ") + (names.count > 1 ? " or " : "") + (names.last ?? "")
    }

    /// The keys of the tables that the value has.
    var group: (any KeyGroup.Type)? {
        switch self {
        case .table(let group, _), .tables(let group), .named(let group, _): group
        default: nil
        }
    }
}
