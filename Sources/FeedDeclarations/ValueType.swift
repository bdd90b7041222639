/// The type of the values in a mapping's column.
public enum ValueType: String, Sendable, CaseIterable {
    case text, integer, real, decimal, boolean, date, datetime, blob, xml

    /// The SQL type of a column that is created for it. Dates are text. A column of decimals has no type: it keeps each
    /// as a number, or as text where a number would be rounded.
    var sqlType: String {
        switch self {
        case .text, .date, .datetime, .xml: "TEXT"
        case .decimal: ""
        case .integer, .boolean: "INTEGER"
        case .real: "REAL"
        case .blob: "BLOB"
        }
    }
}
