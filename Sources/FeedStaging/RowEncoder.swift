import FeedModel
import Foundation
import GRDB

/// Writes a record's `Codable` encoding straight into a ``RowBatch``.
///
/// The first record of a type decides the order of its columns. A record that encodes other columns, or in another
/// order, is noticed (`isOutOfOrder`) and written again by way of a dictionary.
final class RowEncoder {
    // `@exclusivity(unchecked)`: used from the run's executor only, and accessed for every value of every row. For the
    // same reason the columns are not an `Array`, and the batch, which the caller holds, is not retained.
    @exclusivity(unchecked) private var columns = UnsafeMutableBufferPointer<String>.allocate(capacity: 0)
    private let userInfo: [CodingUserInfoKey: Any]
    /// GRDB's encoding of one value that is not a string, a number or a boolean.
    private let encodeValue: (any Encodable, String) throws -> DatabaseValue

    @exclusivity(unchecked) private var batch: Unmanaged<RowBatch>?
    @exclusivity(unchecked) private var position = 0
    @exclusivity(unchecked) private var container: (key: ObjectIdentifier, box: AnyObject)?
    private var collected: [(column: String, value: DatabaseValue)] = []
    /// The error of a record that encodes something else than columns: `Encoder` cannot throw it.
    @exclusivity(unchecked) private var refusal: EncodingError?
    @exclusivity(unchecked) private(set) var isOutOfOrder = false

    /// - Returns: nil if the record's columns have other names than its coding keys.
    init?<Record: FeedRecord>(for type: Record.Type) {
        guard case .useDefaultKeys = Record.databaseColumnEncodingStrategy else { return nil }
        userInfo = Record.databaseEncodingUserInfo
        encodeValue = { value, column in
            if let date = value as? Date {
                let text: String? =
                    switch Record.databaseDateEncodingStrategy(for: column) {
                    case .iso8601: UTCText.iso8601(date)
                    case .deferredToDate: UTCText.sqlite(date)
                    default: nil
                    }
                if let text { return text.databaseValue }
            }
            return try encodedColumns(of: OneColumn<Record>(column: column, value: value)).first?.value ?? .null
        }
    }

    /// Returns the columns and values of a record, in the order in which it encodes them.
    func collect(_ record: some Encodable) throws -> [(column: String, value: DatabaseValue)] {
        batch = nil
        collected.removeAll(keepingCapacity: true)
        try encode(record)
        return collected
    }

    /// Sets the columns of all further rows, in their order.
    func expect(_ columns: [String]) {
        freeColumns()
        self.columns = .allocate(capacity: columns.count)
        _ = self.columns.initialize(from: columns)
    }

    deinit { freeColumns() }

    private func freeColumns() {
        columns.deinitialize()
        columns.deallocate()
    }

    /// Writes one row. Returns false, and writes nothing, where the record's columns are not the expected ones.
    @inline(__always)
    func encode(_ record: some Encodable, into batch: Unmanaged<RowBatch>) throws -> Bool {
        self.batch = batch
        position = 0
        isOutOfOrder = false
        batch._withUnsafeGuaranteedRef { $0.beginRow() }
        do {
            try encode(record)
        } catch {
            batch._withUnsafeGuaranteedRef { $0.cancelRow() }
            throw error
        }
        if isOutOfOrder || position != columns.count {
            batch._withUnsafeGuaranteedRef { $0.cancelRow() }
            return false
        }
        return true
    }

    @inline(__always)
    private func encode(_ record: some Encodable) throws {
        try record.encode(to: RecordEncoder(row: self))
        if refusal != nil, let error = refusal.take() { throw error }
    }

    // MARK: - Called by the containers

    fileprivate func refuse(_ reason: String, _ path: [any CodingKey] = []) {
        refusal = refusal ?? EncodingError.invalidValue(reason, .init(codingPath: path, debugDescription: reason))
    }

    /// Returns the container. The one made for the first record serves all others: making one costs as much as writing
    /// a row.
    @inline(__always)
    fileprivate func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if let container, container.key == ObjectIdentifier(type) {
            // The key shows that it is a `KeyedEncodingContainer<Key>`; a checked cast would cost the time that is
            // saved here.
            return unsafeBitCast(container.box, to: KeyedEncodingContainer<Key>.self)
        }
        let new = KeyedEncodingContainer(KeyedContainer<Key>(row: Unmanaged.passUnretained(self)))
        container = (ObjectIdentifier(type), unsafeBitCast(new, to: AnyObject.self))
        return new
    }

    /// Returns true if the value of this column is next in the row, and moves on.
    @inline(__always)
    fileprivate func isNext(_ key: some CodingKey) -> Bool {
        guard !isOutOfOrder, position < columns.count, columns[position] == key.stringValue else {
            isOutOfOrder = true
            return false
        }
        position += 1
        return true
    }

    @inline(__always)
    fileprivate func put(_ value: String, _ key: some CodingKey) { put(key, value.databaseValue) { $0.append(value) } }
    @inline(__always)
    fileprivate func put(_ value: Int64, _ key: some CodingKey) { put(key, value.databaseValue) { $0.append(value) } }
    @inline(__always)
    fileprivate func put(_ value: Double, _ key: some CodingKey) { put(key, value.databaseValue) { $0.append(value) } }
    @inline(__always)
    fileprivate func putNull(_ key: some CodingKey) { put(key, .null) { $0.appendNull() } }
    fileprivate func put(_ value: DatabaseValue, _ key: some CodingKey) { put(key, value) { $0.append(value) } }

    /// - Parameters:
    ///   - value: the value of a column while columns are collected.
    ///   - append: appends it to the batch.
    @inline(__always)
    private func put(_ key: some CodingKey, _ value: @autoclosure () -> DatabaseValue, _ append: (RowBatch) -> Void) {
        if let batch {
            if isNext(key) { batch._withUnsafeGuaranteedRef(append) }
        } else {
            collected.append((key.stringValue, value()))
        }
    }

    private struct RecordEncoder: Encoder {
        let row: RowEncoder
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { row.userInfo }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            row.container(keyedBy: type)
        }

        func unkeyedContainer() -> any UnkeyedEncodingContainer {
            row.refuse("a record encodes its columns by key, not as a list")
            return Refused(row: row)
        }

        func singleValueContainer() -> any SingleValueEncodingContainer {
            row.refuse("a record encodes its columns by key, not as one value")
            return Refused(row: row)
        }
    }

    /// Takes values that are no column's. The record's encoding ends with an error.
    private struct Refused: UnkeyedEncodingContainer, SingleValueEncodingContainer {
        let row: RowEncoder
        var codingPath: [any CodingKey] { [] }
        var count: Int { 0 }

        func encodeNil() {}
        func encode<T: Encodable>(_ value: T) {}

        func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
            row.container(keyedBy: type)
        }

        func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
        func superEncoder() -> any Encoder { RecordEncoder(row: row) }
    }

    private struct KeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
        /// Not retained: the encoder owns the container, and this is read for every value.
        let row: Unmanaged<RowEncoder>
        var codingPath: [any CodingKey] { [] }

        func encodeNil(forKey key: Key) { putNull(key) }
        func encode(_ value: Bool, forKey key: Key) { put(value ? 1 as Int64 : 0, key) }
        func encode(_ value: String, forKey key: Key) { put(value, key) }
        func encode(_ value: Double, forKey key: Key) throws {
            if value.isNaN { throw StoreError.notANumber(column: key.stringValue) }
            put(value, key)
        }
        func encode(_ value: Float, forKey key: Key) throws { try encode(Double(value), forKey: key) }
        func encode(_ value: Int, forKey key: Key) { put(Int64(value), key) }
        func encode(_ value: Int64, forKey key: Key) { put(value, key) }
        func encode<T: FixedWidthInteger & Encodable>(_ value: T, forKey key: Key) throws {
            put(try signed(value, key), key)
        }

        func encode<T: Encodable>(_ value: T, forKey key: Key) throws {
            put(try row.takeUnretainedValue().encodeValue(value, key.stringValue), key)
        }

        func encodeIfPresent(_ value: Bool?, forKey key: Key) {
            if let value { encode(value, forKey: key) } else { putNull(key) }
        }
        func encodeIfPresent(_ value: String?, forKey key: Key) {
            if let value { put(value, key) } else { putNull(key) }
        }
        func encodeIfPresent(_ value: Double?, forKey key: Key) throws {
            if let value { try encode(value, forKey: key) } else { putNull(key) }
        }
        func encodeIfPresent(_ value: Int?, forKey key: Key) {
            if let value { put(Int64(value), key) } else { putNull(key) }
        }
        func encodeIfPresent(_ value: Float?, forKey key: Key) throws {
            try encodeIfPresent(value.map(Double.init), forKey: key)
        }
        func encodeIfPresent<T: FixedWidthInteger & Encodable>(_ value: T?, forKey key: Key) throws {
            if let value { try encode(value, forKey: key) } else { putNull(key) }
        }
        func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws {
            if let value { try encode(value, forKey: key) } else { putNull(key) }
        }

        @inline(__always)
        private func put(_ value: String, _ key: Key) { row._withUnsafeGuaranteedRef { $0.put(value, key) } }
        @inline(__always)
        private func put(_ value: Int64, _ key: Key) { row._withUnsafeGuaranteedRef { $0.put(value, key) } }
        @inline(__always)
        private func put(_ value: Double, _ key: Key) { row._withUnsafeGuaranteedRef { $0.put(value, key) } }
        @inline(__always)
        private func putNull(_ key: Key) { row._withUnsafeGuaranteedRef { $0.putNull(key) } }
        private func put(_ value: DatabaseValue, _ key: Key) { row._withUnsafeGuaranteedRef { $0.put(value, key) } }

        private func signed(_ value: some BinaryInteger, _ key: Key) throws -> Int64 {
            guard let signed = Int64(exactly: value) else {
                throw EncodingError.invalidValue(
                    value, .init(codingPath: [key], debugDescription: "\(value) is larger than a database integer"))
            }
            return signed
        }

        func nestedContainer<NestedKey: CodingKey>(
            keyedBy keyType: NestedKey.Type, forKey key: Key
        ) -> KeyedEncodingContainer<NestedKey> {
            let row = row.takeUnretainedValue()
            row.refuse("a record's column '\(key.stringValue)' is one value; encode a nested type instead", [key])
            return row.container(keyedBy: keyType)
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
            let row = row.takeUnretainedValue()
            row.refuse("a record's column '\(key.stringValue)' is one value; encode an array instead", [key])
            return Refused(row: row)
        }

        func superEncoder() -> any Encoder { RecordEncoder(row: row.takeUnretainedValue()) }
        func superEncoder(forKey key: Key) -> any Encoder { RecordEncoder(row: row.takeUnretainedValue()) }
    }
}

/// A record of a single column with the strategies of another: GRDB's own encoding of one value.
private struct OneColumn<Record: FeedRecord>: EncodableRecord, Encodable {
    let column: String
    let value: any Encodable

    static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] { Record.databaseEncodingUserInfo }
    static func databaseJSONEncoder(for column: String) -> JSONEncoder { Record.databaseJSONEncoder(for: column) }
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        Record.databaseDataEncodingStrategy(for: column)
    }
    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        Record.databaseDateEncodingStrategy(for: column)
    }
    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        Record.databaseUUIDEncodingStrategy(for: column)
    }

    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(value, forKey: Key(stringValue: column))
    }
}
