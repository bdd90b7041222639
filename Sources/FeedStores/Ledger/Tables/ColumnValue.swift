package import FeedModel
package import Foundation

/// A value of a row of Tributary's own tables, in the form in which a column has it.
package protocol ColumnValue: Sendable {
    static var columnType: ColumnType { get }
    static var isNullable: Bool { get }

    /// - Returns: nil for NULL, and for a value that the type does not have.
    static func read(_ row: any SQLRow, _ column: Int) throws -> Self?

    /// The value as a statement binds it.
    var bound: SQLText.Value { get throws }
}

extension ColumnValue {
    package static var isNullable: Bool { false }
}

extension Optional: ColumnValue where Wrapped: ColumnValue {
    package static var columnType: ColumnType { Wrapped.columnType }
    package static var isNullable: Bool { true }
    package static func read(_ row: any SQLRow, _ column: Int) throws -> Self? {
        .some(try Wrapped.read(row, column))
    }
    package var bound: SQLText.Value { get throws { try self?.bound ?? .null } }
}

extension String: ColumnValue {
    package static var columnType: ColumnType { .text }
    package static func read(_ row: any SQLRow, _ column: Int) -> String? { row.string(column) }
    package var bound: SQLText.Value { .text(self) }
}

extension Int: ColumnValue {
    package static var columnType: ColumnType { .integer }
    package static func read(_ row: any SQLRow, _ column: Int) throws -> Int? { try row.int(column) }
    package var bound: SQLText.Value { .integer(Int64(self)) }
}

extension Int64: ColumnValue {
    package static var columnType: ColumnType { .integer }
    package static func read(_ row: any SQLRow, _ column: Int) throws -> Int64? { try row.int64(column) }
    package var bound: SQLText.Value { .integer(self) }
}

extension Double: ColumnValue {
    package static var columnType: ColumnType { .real }
    package static func read(_ row: any SQLRow, _ column: Int) throws -> Double? { try row.double(column) }
    package var bound: SQLText.Value { .real(self) }
}

extension Bool: ColumnValue {
    package static var columnType: ColumnType { .boolean }
    package static func read(_ row: any SQLRow, _ column: Int) throws -> Bool? { try row.bool(column) }
    package var bound: SQLText.Value { .bool(self) }
}

extension Date: ColumnValue {
    package static var columnType: ColumnType { .time }
    package static func read(_ row: any SQLRow, _ column: Int) throws -> Date? { try row.date(column) }
    package var bound: SQLText.Value { .date(self) }
}

/// The key of a user's row.
extension StoredValue: ColumnValue {
    package static var columnType: ColumnType { .key }
    package static var isNullable: Bool { true }
    package static func read(_ row: any SQLRow, _ column: Int) -> StoredValue? { row.storedValue(column) }
    package var bound: SQLText.Value { SQLText.Value(self) }
}

/// The id of a transaction.
extension UInt64: ColumnValue {
    package static var columnType: ColumnType { .transaction }
    package static func read(_ row: any SQLRow, _ column: Int) -> UInt64? { row.string(column).flatMap { UInt64($0) } }
    package var bound: SQLText.Value { .text(String(self)) }
}

/// A choice, as its text.
extension ColumnValue where Self: RawRepresentable<String> {
    package static var columnType: ColumnType { .text }
    package static func read(_ row: any SQLRow, _ column: Int) -> Self? { row.string(column).flatMap(Self.init) }
    package var bound: SQLText.Value { .text(rawValue) }
}

extension RunOutcome: ColumnValue {}
extension RunKind: ColumnValue {}
extension SyncMode: ColumnValue {}

extension Set<String>: ColumnValue {
    package static var columnType: ColumnType { .texts }
    package static func read(_ row: any SQLRow, _ column: Int) throws -> Self? { Set(try row.texts(column)) }
    package var bound: SQLText.Value { .texts(sorted()) }
}

extension [String: String]: ColumnValue {
    package static var columnType: ColumnType { .json }
    package static func read(_ row: any SQLRow, _ column: Int) -> Self? { row.string(column).map(JSONText.object) }
    package var bound: SQLText.Value { get throws { .text(try JSONText.encode(self)) } }
}

extension [RequestReport]: ColumnValue {
    package static var columnType: ColumnType { .json }
    package static func read(_ row: any SQLRow, _ column: Int) -> Self? {
        row.string(column).flatMap { $0 == "[]" ? nil : JSONText.decode($0) }
    }
    package var bound: SQLText.Value { get throws { .text(try JSONText.encode(self)) } }
}

extension String {
    /// The text without U+0000, which PostgreSQL cannot store: for messages with texts from servers.
    package var storable: String { utf8.contains(0) ? replacing("\0", with: "\u{FFFD}") : self }
}
