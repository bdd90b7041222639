import FeedModel

/// The type that a mapping gives to a column, and what of PostgreSQL's belongs to it.
enum ColumnType: String {
    case text, integer, real, decimal, boolean, date, datetime, blob

    /// - Parameter word: as ``TableSchema/Column/type`` has it: SQLite's word, or the mapping's own.
    init(word: String) {
        switch word.lowercased() {
        case "": self = .decimal
        case let word: self = ColumnType(rawValue: word) ?? .text
        }
    }

    /// The type of a column that is created for it.
    var sql: String {
        switch self {
        case .text: "text"
        case .integer: "bigint"
        case .real: "double precision"
        case .decimal: "numeric"
        case .boolean: "boolean"
        case .date: "date"
        case .datetime: "timestamptz"
        case .blob: "bytea"
        }
    }

    /// Returns true where an existing column keeps the values. SQLite's words do not tell a date or a URL from other
    /// texts, nor a boolean from an integer.
    func fits(_ column: ColumnDetails) -> Bool {
        let isText = column.category == "S"
        let isNumber = column.category == "N"
        return switch self {
        case .text: !isNumber && column.category != "B" && column.typeName != "bytea"
        case .integer: column.isInteger || column.typeName == "numeric" || column.category == "B"
        case .real: column.isFloat || column.typeName == "numeric"
        case .decimal: isText || isNumber
        case .boolean: isText || isNumber || column.category == "B"
        case .date, .datetime: isText || column.category == "D"
        case .blob: column.typeName == "bytea"
        }
    }
}
