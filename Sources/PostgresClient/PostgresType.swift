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
