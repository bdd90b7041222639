import Foundation
import GRDB
import PostgresClient

extension PostgresRow {
    /// The value as SQLite keeps it: numbers as numbers, booleans as 0 and 1, points in time as mappings write them, and all
    /// other types as PostgreSQL's text.
    func databaseValue(_ column: Int, type: UInt32) throws -> DatabaseValue {
        if isNull(column) { return .null }
        switch type {
        case PostgresType.smallint, PostgresType.integer, PostgresType.bigint:
            return try int64(column)?.databaseValue ?? .null
        case PostgresType.real, PostgresType.doublePrecision: return try double(column)?.databaseValue ?? .null
        case PostgresType.bool: return try bool(column)?.databaseValue ?? .null
        case PostgresType.bytea: return try bytes(column).map { Data($0).databaseValue } ?? .null
        case PostgresType.timestamptz, PostgresType.timestamp:
            return try storedText(column, type: type)?.databaseValue ?? .null
        default: return string(column)?.databaseValue ?? .null
        }
    }

    /// The value as the text that the same value has in an SQLite store; nil for NULL.
    func storedText(_ column: Int, type: UInt32) throws -> String? {
        switch type {
        case PostgresType.real, PostgresType.doublePrecision: try double(column).map { "\($0)" }
        case PostgresType.bool: try bool(column).map { $0 ? "1" : "0" }
        case PostgresType.bytea:
            try bytes(column).map { $0.map { String(format: "%02x", $0) }.joined() }
        case PostgresType.timestamptz: string(column).map { StoredText.iso8601($0, hasZone: true) }
        case PostgresType.timestamp: string(column).map { StoredText.iso8601($0, hasZone: false) }
        default: string(column)
        }
    }
}
