import TOMLKit

/// A value of a TOML document, copied out of the C++ tree that TOMLKit wraps.
enum TOMLNode: Sendable, Equatable {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)
    case date
    case array([TOMLNode])
    case table([String: TOMLNode])

    /// What a message calls it.
    var typeName: String {
        switch self {
        case .string: "a string"
        case .integer: "an integer"
        case .float: "a float"
        case .boolean: "a boolean"
        case .date: "a date"
        case .array: "an array"
        case .table: "a table"
        }
    }

    /// - Throws: `TOMLParseError`, with the place in the text.
    static func parse(_ text: String) throws -> [String: TOMLNode] {
        guard case .table(let root) = TOMLNode(try TOMLTable(string: text)) else { return [:] }
        return root
    }

    private init(_ value: any TOMLValueConvertible) {
        switch value.type {
        case .string: self = .string(value.string ?? "")
        case .int: self = .integer(value.int ?? 0)
        case .double: self = .float(value.double ?? 0)
        case .bool: self = .boolean(value.bool ?? false)
        case .date, .time, .dateTime: self = .date
        case .array: self = .array((value.array ?? []).map { TOMLNode($0) })
        case .table:
            var nodes: [String: TOMLNode] = [:]
            if let table = value.table {
                for key in table.keys {
                    if let child = table[key] { nodes[key] = TOMLNode(child) }
                }
            }
            self = .table(nodes)
        }
    }
}
