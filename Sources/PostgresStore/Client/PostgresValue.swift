/// A value of a statement's parameter. All but `bytes` and `textArray` travel as text of no type, so that the server takes them as the type of
/// the place where they stand; `$1::bigint` says it where nothing else does.
package enum PostgresValue: Sendable, Equatable {
    case text(String)
    case integer(Int64)
    case double(Double)
    case bool(Bool)
    /// As `bytea`, in binary.
    case bytes([UInt8])
    /// As `text[]`.
    case textArray(PostgresTextArray)
    /// As an array of the type that the statement gives it: `$1::numeric[]`.
    case array(PostgresTextArray)
}

extension PostgresValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral
{
    package init(stringLiteral value: String) { self = .text(value) }
    package init(integerLiteral value: Int64) { self = .integer(value) }
    package init(floatLiteral value: Double) { self = .double(value) }
    package init(booleanLiteral value: Bool) { self = .bool(value) }
}

/// The object ids of types that come with PostgreSQL, the same in every database (catalog/pg_type.dat).
package enum PostgresType {
    package static let bool: UInt32 = 16
    package static let bytea: UInt32 = 17
    package static let bigint: UInt32 = 20
    package static let smallint: UInt32 = 21
    package static let integer: UInt32 = 23
    package static let text: UInt32 = 25
    package static let json: UInt32 = 114
    package static let real: UInt32 = 700
    package static let doublePrecision: UInt32 = 701
    package static let textArray: UInt32 = 1009
    package static let varchar: UInt32 = 1043
    package static let bpchar: UInt32 = 1042
    package static let date: UInt32 = 1082
    package static let timestamp: UInt32 = 1114
    package static let timestamptz: UInt32 = 1184
    package static let numeric: UInt32 = 1700
    package static let uuid: UInt32 = 2950
    package static let jsonb: UInt32 = 3802
}
