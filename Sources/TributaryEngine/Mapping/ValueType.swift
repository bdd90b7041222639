/// What a mapping's column holds.
public enum ValueType: String, Sendable, CaseIterable {
    case text, integer, real, decimal, boolean, date, datetime, blob, xml

    /// The type of the column that is created for it. Decimals and dates are text, so that nothing is rounded.
    var sqlType: String {
        switch self {
        case .text, .decimal, .date, .datetime, .xml: "TEXT"
        case .integer, .boolean: "INTEGER"
        case .real: "REAL"
        case .blob: "BLOB"
        }
    }
}
