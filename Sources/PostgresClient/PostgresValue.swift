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
