/// A column into which COPY writes.
struct CopyColumn {
    /// Those types whose binary form is known here.
    enum ColumnType: String, CustomStringConvertible {
        case text
        case bigint
        case integer
        case doublePrecision = "double precision"
        case bool = "boolean"
        case bytea

        var description: String { rawValue }

        /// - Returns: nil for types whose binary form is another.
        init?(oid: UInt32) {
            switch oid {
            case PostgresType.text, PostgresType.varchar, PostgresType.json: self = .text
            case PostgresType.bigint: self = .bigint
            case PostgresType.integer: self = .integer
            case PostgresType.doublePrecision: self = .doublePrecision
            case PostgresType.bool: self = .bool
            case PostgresType.bytea: self = .bytea
            default: return nil
            }
        }
    }

    let name: String
    let type: ColumnType
}
