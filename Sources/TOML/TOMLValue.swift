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
}

/// A value of a TOML document, with its line.
package struct TOMLNode: Sendable, Equatable {
    package var value: TOMLValue
    /// The line on which it begins, counted from 1. A table begins with its header or, without one, with the first key
    /// that leads into it.
    package var line: Int

    package init(_ value: TOMLValue, line: Int) {
        self.value = value
        self.line = line
    }
}
