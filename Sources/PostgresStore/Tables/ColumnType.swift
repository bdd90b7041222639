import FeedModel
import FeedStaging

/// The type that a mapping gives to a column, with its properties in PostgreSQL.
enum ColumnType: String {
    case text, integer, real, decimal, boolean, date, datetime, blob

    /// Returns nil for a column that shares the type of the key to which it refers.
    init?(_ column: TableSchema.Column) {
        guard let type = column.type else { return nil }
        if let word = column.word.flatMap(Self.init) {
            self = word
        } else {
            self = type.isEmpty ? .decimal : Self(rawValue: type.lowercased()) ?? .text
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

    /// Returns true if an existing column keeps the values. Of those that other types lose or refuse, columns of the
    /// types that a mapping creates show that its own type has changed; other types, such as `uuid` for texts, are the
    /// choice of the table's owner.
    func fits(_ column: StoredTable.Column) -> Bool {
        let isText = column.category == "S"
        let isNumber = column.category == "N"
        let isTime = ["timestamp", "timestamptz"].contains(column.typeName)
        let isDay = column.typeName == "date"
        return switch self {
        case .text: !isNumber && !isDay && !isTime && column.category != "B" && column.typeName != "bytea"
        case .integer: column.isInteger || column.typeName == "numeric" || column.category == "B"
        case .real: column.isFloat || column.typeName == "numeric"
        case .decimal: isText || isNumber && !["int8", "float8"].contains(column.typeName)
        case .boolean: isText || isNumber || column.category == "B"
        case .date: isText || isDay || isTime
        case .datetime: isText || isTime
        case .blob: column.typeName == "bytea"
        }
    }
}
