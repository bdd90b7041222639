/// The value of a key in a TOML document.
package enum TOMLValue: Sendable, Equatable {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)
    /// A date, a time or both, as written, with `:00` where the seconds are left out. The date exists in the calendar.
    case date(String)
    case array([TOMLNode])
    case table(TOMLTable)

    /// The type's name in messages.
    package var typeName: String {
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

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    package var boolean: Bool? { if case .boolean(let flag) = self { flag } else { nil } }
    package var array: [TOMLNode]? { if case .array(let nodes) = self { nodes } else { nil } }
    package var table: TOMLTable? { if case .table(let table) = self { table } else { nil } }
}

/// A value of a TOML document, with its place.
package struct TOMLNode: Sendable, Equatable {
    package var value: TOMLValue
    package var place: TOMLPlace

    /// The line on which it begins, counted from 1. A table begins with its header or, without one, with the first key
    /// that leads into it.
    package var line: Int { place.line }

    package init(_ value: TOMLValue, line: Int) { self.init(value, at: TOMLPlace(line: line)) }

    init(_ value: TOMLValue, at place: TOMLPlace) {
        self.value = value
        self.place = place
    }

    /// Values on the same line are equal, wherever in it they are.
    package static func == (left: TOMLNode, right: TOMLNode) -> Bool {
        left.line == right.line && left.value == right.value
    }
}

/// Where a key and its value are.
package struct TOMLPlace: Sendable {
    package var line: Int
    /// The offset and the length of the key in the document's bytes, or of its last name; empty for an element of an array.
    package var key = 0..<0
    /// The offset and the length of the value; empty for a table with a header.
    package var value = 0..<0
}

/// A table of a TOML document: its keys in the order of their first appearance, each with its value and line.
package struct TOMLTable: Sendable, Equatable {
    package struct Entry: Sendable, Equatable {
        package var key: String
        package var node: TOMLNode

        package init(key: String, node: TOMLNode) {
            self.key = key
            self.node = node
        }
    }

    /// The most keys with which a table is searched from its beginning, without an index.
    static let few = 8

    package let entries: [Entry]
    /// The positions of the keys; empty if there are few.
    private let positions: [String: Int]

    /// - Parameter entries: the first one counts where a key is given twice, which no document does.
    package init(_ entries: [Entry] = []) {
        self.entries = entries
        positions =
            entries.count <= Self.few
            ? [:] : Dictionary(entries.enumerated().map { ($1.key, $0) }) { first, _ in first }
    }

    package var keys: [String] { entries.map(\.key) }

    package var isEmpty: Bool { entries.isEmpty }

    package func node(_ key: String) -> TOMLNode? {
        if positions.isEmpty { return entries.first { $0.key == key }?.node }
        return positions[key].map { entries[$0].node }
    }

    package subscript(key: String) -> TOMLValue? { node(key)?.value }
}
