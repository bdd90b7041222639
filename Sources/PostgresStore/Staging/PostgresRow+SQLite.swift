import Foundation
import GRDB

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

/// PostgreSQL's texts of points in time, in the forms that others expect.
enum StoredText {
    /// `2026-11-21T08:30:00Z`, or `2026-11-21T08:30:00.500Z`, as mappings write times; with microseconds where a time has
    /// them.
    static func iso8601(_ text: String, hasZone: Bool) -> String {
        guard let parts = parts(of: text) else { return text }
        let zeros = String(repeating: "0", count: max(0, 3 - parts.fraction.count))
        let fraction = parts.fraction.isEmpty ? "" : "." + parts.fraction + zeros
        return "\(parts.day)T\(parts.time)\(fraction)\(hasZone ? "Z" : "")"
    }

    /// - Returns: nil for a date before Christ, infinity, and another zone than UTC.
    private static func parts(of text: String) -> (day: Substring, time: Substring, fraction: String)? {
        let text = text.hasSuffix("+00") ? text.dropLast(3) : text[...]
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, !words[1].contains(where: { $0 == "+" || $0 == "-" }) else { return nil }
        let time = words[1].split(separator: ".")
        guard let whole = time.first, whole.count == 8, time.count <= 2 else { return nil }
        return (words[0], whole, time.count == 2 ? String(time[1]) : "")
    }
}
