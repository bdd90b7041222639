/// What a key of a TOML document stands for.
package enum TOMLValue: Sendable, Equatable {
    case string(String)
    case integer(Int)
    case float(Double)
    case boolean(Bool)
    /// A date, a time or both, as it is written; the calendar has it.
    case date(String)
    case array([TOMLNode])
    case table(TOMLTable)

    /// What a message calls it.
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
