/// What a mapping's column holds.
public enum ValueType: String, Sendable, CaseIterable {
    case text, integer, real, decimal, boolean, date, datetime, blob, xml

    /// The type of the column that is created for it. Dates are text; a column of decimals has no type, and keeps each as
    /// the number that it is, or as text where a number would round it.
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
