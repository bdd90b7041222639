import FeedModel
import FeedStaging
import Foundation
import GRDB

/// Derives the table of a record type from its `Decodable` conformance: a decoder notes each requested key and type,
/// and returns empty values.
enum RecordTable {
    /// - Precondition: each column can be derived, and the key's columns are among them.
    static func schema<Record: FeedRecord>(of type: Record.Type, place: KeyPlace) -> TableSchema {
        guard case .useDefaultKeys = type.databaseColumnEncodingStrategy else {
            preconditionFailure("\(place): the columns of a table that is derived have the names of the properties")
        }
        let columns = Columns()
        do {
            _ = try type.init(from: ColumnDecoder(columns: columns, strategies: strategies(of: type)))
        } catch {
            let known = columns.all.map(\.name).joined(separator: ", ")
            preconditionFailure(
                "\(place): the table of \(type) cannot be derived (known columns: \(known)): \(error). Make the type of the "
                    + "next property optional or CaseIterable, or create the table in a migration and leave databaseKey out"
            )
        }
        let names = Set(columns.all.map(\.name))
        let key = type.databaseKey
        precondition(
            names.isSuperset(of: key), "\(place): databaseKey of \(type) names a column that the type does not have")
        return TableSchema(name: type.databaseTableName, columns: columns.all, key: key, place: place)
    }

    /// A column's type: in SQL, and the mapping's word for it where the store has a type of its own.
    typealias ColumnType = (sql: String, word: String?)

    /// The types of the columns whose values a record encodes as it likes.
    struct Strategies {
        var date: (String) -> ColumnType
        var data: (String) -> ColumnType
        var uuid: (String) -> ColumnType
    }

    private static func strategies<Record: FeedRecord>(of type: Record.Type) -> Strategies {
        Strategies(
            date: { column in
                switch type.databaseDateEncodingStrategy(for: column) {
                case .iso8601: ("TEXT", "datetime")
                case .secondsSince1970, .millisecondsSince1970: ("INTEGER", "integer")
                case .timeIntervalSince1970, .timeIntervalSinceReferenceDate: ("REAL", "real")
                default: ("TEXT", "text")
                }
            },
            data: { column in
                if case .text = type.databaseDataEncodingStrategy(for: column) {
                    ("TEXT", "text")
                } else {
                    ("BLOB", "blob")
                }
            },
            uuid: { column in
                switch type.databaseUUIDEncodingStrategy(for: column) {
                case .deferredToUUID: ("BLOB", "blob")
                default: ("TEXT", "text")
                }
            })
    }

    /// The columns found so far.
    final class Columns {
        var all: [TableSchema.Column] = []

        func note(_ name: String, _ type: ColumnType, isNotNull: Bool) {
            guard !all.contains(where: { $0.name == name }) else { return }
            all.append(TableSchema.Column(name: name, type: type.sql, word: type.word, isNotNull: isNotNull))
        }
    }
}

/// A decoder without values, which notes the requested keys and types.
private struct ColumnDecoder: Decoder {
    let columns: RecordTable.Columns
    let strategies: RecordTable.Strategies
    var codingPath: [any CodingKey] = []
    var userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ColumnContainer<Key>(columns: columns, strategies: strategies))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Underivable(type: "a list") }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Underivable(type: "a single value") }
}

private struct Underivable: Error, CustomStringConvertible {
    var type: String
    var description: String { "no empty value of \(type) can be made" }
}

private struct ColumnContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let columns: RecordTable.Columns
    let strategies: RecordTable.Strategies
    var codingPath: [any CodingKey] = []
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        columns.note(key.stringValue, columnType(type, key), isNotNull: true)
        guard let value = emptyValue(of: type) as? Value else { throw Underivable(type: "\(type)") }
        return value
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? { absent(type, key) }

    // Without these, the defaults of the protocol would be taken, which do not tell that the value is optional.
    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { absent(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { absent(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { absent(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { absent(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { absent(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { absent(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { absent(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { absent(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { absent(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { absent(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { absent(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { absent(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { absent(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { absent(type, key) }

    private func absent<Value>(_ type: Value.Type, _ key: Key) -> Value? {
        columns.note(key.stringValue, columnType(type, key), isNotNull: false)
        return nil
    }

    private func columnType(_ type: Any.Type, _ key: Key) -> RecordTable.ColumnType {
        switch type {
        case is Bool.Type: ("INTEGER", "boolean")
        case is any BinaryInteger.Type: ("INTEGER", "integer")
        case is any BinaryFloatingPoint.Type: ("REAL", "real")
        case is Decimal.Type: ("", "decimal")
        case is Data.Type: strategies.data(key.stringValue)
        case is Date.Type: strategies.date(key.stringValue)
        case is UUID.Type: strategies.uuid(key.stringValue)
        case let type as any RawRepresentable.Type: columnType(rawType(of: type), key)
        default: ("TEXT", "text")
        }
    }

    private func rawType<Value: RawRepresentable>(of type: Value.Type) -> Any.Type { Value.RawValue.self }

    private func emptyValue(of type: Any.Type) -> Any? {
        switch type {
        case is Bool.Type: false
        case let type as any BinaryInteger.Type: type.init(0)
        case let type as any BinaryFloatingPoint.Type: type.init(0)
        case is String.Type: ""
        case is Decimal.Type: Decimal(0)
        case is Data.Type: Data()
        case is Date.Type: Date(timeIntervalSince1970: 0)
        case is UUID.Type: UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        case is URL.Type: URL(fileURLWithPath: "/")
        case let type as any ExpressibleByArrayLiteral.Type: emptyList(of: type)
        case let type as any ExpressibleByDictionaryLiteral.Type: emptyTable(of: type)
        case let type as any CaseIterable.Type: firstCase(of: type)
        case let type as any RawRepresentable.Type: value(ofRaw: type)
        default: nil
        }
    }

    private func value<Value: RawRepresentable>(ofRaw type: Value.Type) -> Value? {
        (emptyValue(of: Value.RawValue.self) as? Value.RawValue).flatMap(Value.init)
    }

    private func emptyList<Value: ExpressibleByArrayLiteral>(of type: Value.Type) -> Value { [] }

    private func emptyTable<Value: ExpressibleByDictionaryLiteral>(of type: Value.Type) -> Value { [:] }

    private func firstCase<Value: CaseIterable>(of type: Value.Type) -> Value? { type.allCases.first }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> { throw Underivable(type: "a nested container") }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        throw Underivable(type: "a nested container")
    }

    func superDecoder() throws -> any Decoder { ColumnDecoder(columns: columns, strategies: strategies) }

    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}
