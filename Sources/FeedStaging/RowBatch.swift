import FeedModel
import Foundation
package import GRDB

/// Rows of one staging table on their way from the parser to SQLite. Their values lie one after another in one block of
/// memory, so that a row needs no allocation and its texts are bound in place.
///
/// `@unchecked Sendable`: the parser's side fills a batch, hands it over whole, and never touches it again.
package final class RowBatch: @unchecked Sendable {
    package enum Tag: UInt8 {
        case null, integer, double, text, blob
    }

    // `@exclusivity(unchecked)`: one thread at a time holds a batch, and these are accessed for every value of every
    // row.
    @exclusivity(unchecked) package private(set) var bytes: UnsafeMutableRawPointer
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private(set) var capacity: Int
    @exclusivity(unchecked) package private(set) var rows: [RowStart] = []
    /// The rows' numbers, if they are not consecutive.
    @exclusivity(unchecked) package private(set) var numbers: [Int64] = []
    private var key: SortKey?
    /// False if a key has another type than its column, which may consider it equal to another row's key.
    @exclusivity(unchecked) private var hasUniformKeys = true
    @exclusivity(unchecked) private var column = 0
    /// Bytes of texts and blobs in the row that was begun last.
    @exclusivity(unchecked) private(set) var textsOfRow = 0
    /// The used part of its memory, in bytes.
    @inline(__always) var size: Int { count + rows.count * MemoryLayout<RowStart>.stride }

    /// The start of a row and of its key, with the first bytes of the key: enough to sort most rows without reading
    /// them. Of an integer, they are all of it.
    package struct RowStart {
        package var offset: Int
        var keyOffset: Int
        var keyPrefix: UInt64
    }

    /// The first key column, by which ``sortByKey()`` sorts.
    struct SortKey {
        var column: Int
        /// True for integers; false for texts that compare byte by byte.
        var isInteger: Bool
    }

    /// The key of a row, kept beyond its batch.
    struct LastKey {
        fileprivate var prefix: UInt64
        fileprivate var text: [UInt8]
    }

    init(key: SortKey?) {
        self.key = key
        capacity = 16 << 10
        bytes = .allocate(byteCount: capacity, alignment: 8)
    }

    deinit { bytes.deallocate() }

    /// Removes every row and keeps the memory, for a staging table with this first key column.
    func reuse(key: SortKey?) {
        self.key = key
        rows.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        hasUniformKeys = true
        count = 0
    }

    // MARK: - Filling

    @inline(__always)
    func beginRow() {
        rows.append(RowStart(offset: count, keyOffset: -1, keyPrefix: 0))
        column = 0
        textsOfRow = 0
    }

    /// Gives the row that has ended a number of its own. Either all rows of a batch have one, or none.
    func number(_ number: Int64) { numbers.append(number) }

    /// Removes the row that was begun last.
    func cancelRow() {
        guard let row = rows.popLast() else { return }
        count = row.offset
    }

    @inline(__always)
    func appendNull() {
        startValue(.null, 0)
    }

    @inline(__always)
    func append(_ value: Int64) {
        startValue(.integer, 8)
        if column - 1 == key?.column { noteKey(UInt64(bitPattern: value) ^ 1 << 63, isInteger: true) }
        bytes.storeBytes(of: value, toByteOffset: count, as: Int64.self)
        count += 8
    }

    @inline(__always)
    func append(_ value: Double) {
        startValue(.double, 8)
        if column - 1 == key?.column { hasUniformKeys = false }
        bytes.storeBytes(of: value, toByteOffset: count, as: Double.self)
        count += 8
    }

    @inline(__always)
    func append(_ text: String) {
        var text = text
        text.withUTF8 { append(.text, UnsafeRawBufferPointer($0)) }
    }

    @inline(__always)
    func append(_ tag: Tag, _ value: UnsafeRawBufferPointer) {
        startValue(tag, 4 + value.count)
        if column - 1 == key?.column { noteKey(prefix(of: value), isInteger: false) }
        bytes.storeBytes(of: UInt32(truncatingIfNeeded: value.count), toByteOffset: count, as: UInt32.self)
        if let source = value.baseAddress { (bytes + count + 4).copyMemory(from: source, byteCount: value.count) }
        count += 4 + value.count
        textsOfRow += value.count
    }

    func append(_ value: DatabaseValue) {
        switch value.storage {
        case .null: appendNull()
        case .int64(let value): append(value)
        case .double(let value): append(value)
        case .string(let value): append(value)
        case .blob(let value): value.withUnsafeBytes { append(.blob, $0) }
        }
    }

    @inline(__always)
    private func startValue(_ tag: Tag, _ length: Int) {
        if count + 1 + length > capacity { grow(to: count + 1 + length) }
        bytes.storeBytes(of: tag.rawValue, toByteOffset: count, as: UInt8.self)
        count += 1
        column += 1
    }

    @inline(__always)
    private func noteKey(_ prefix: UInt64, isInteger: Bool) {
        if isInteger != key?.isInteger { hasUniformKeys = false }
        rows[rows.count - 1].keyOffset = count - 1
        rows[rows.count - 1].keyPrefix = prefix
    }

    @inline(__always)
    private func prefix(of value: UnsafeRawBufferPointer) -> UInt64 {
        var prefix: UInt64 = 0
        if value.count >= 8 {
            prefix = UInt64(bigEndian: value.loadUnaligned(as: UInt64.self))
        } else {
            for byte in value { prefix = prefix << 8 | UInt64(byte) }
            prefix <<= UInt64(8 * (8 - value.count))
        }
        return prefix
    }

    private func grow(to needed: Int) {
        // Beyond some size, it grows in equal steps: doubled memory would be most of a run's memory.
        let larger = max(min(capacity * 2, capacity + 4 << 20), needed)
        let moved = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 8)
        moved.copyMemory(from: bytes, byteCount: count)
        bytes.deallocate()
        bytes = moved
        capacity = larger
    }

    // MARK: - Emptying

    /// Calls `body` with each row's value in one column, tag and length included.
    package func forEachValue(ofColumn column: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        for row in rows {
            var value = UnsafeRawPointer(bytes + row.offset)
            for _ in 0..<column { value += Self.size(at: value) }
            body(UnsafeRawBufferPointer(start: value, count: Self.size(at: value)))
        }
    }

    /// Returns a hash of the last row's values in these columns; nil if one has another form than is given.
    func hashOfLastRow(_ columns: [(position: Int, tag: Tag)], after start: UInt64) -> UInt64? {
        guard let row = rows.last else { return nil }
        var hash = start
        for column in columns {
            var value = UnsafeRawPointer(bytes + row.offset)
            for _ in 0..<column.position { value += Self.size(at: value) }
            guard value.load(as: UInt8.self) == column.tag.rawValue else { return nil }
            hash = Fingerprint.hash(UnsafeRawBufferPointer(start: value, count: Self.size(at: value)), after: hash)
        }
        return hash
    }

    /// Returns a value as it was appended; nil for a text with a NUL, which GRDB binds only up to there.
    package static func value(at value: UnsafeRawPointer) -> DatabaseValue? {
        var content: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: value + 5, count: size(at: value) - 5) }
        return switch Tag(rawValue: value.load(as: UInt8.self)) {
        case .integer: (value + 1).loadUnaligned(as: Int64.self).databaseValue
        case .double: (value + 1).loadUnaligned(as: Double.self).databaseValue
        case .text: content.contains(0) ? nil : String(validating: content, as: UTF8.self)?.databaseValue
        case .blob: Data(content).databaseValue
        case .null, nil: .null
        }
    }

    /// Returns the size of a value in bytes, including its tag and length.
    @inline(__always)
    private static func size(at value: UnsafeRawPointer) -> Int {
        switch Tag(rawValue: value.load(as: UInt8.self)) {
        case .integer, .double: 9
        case .text, .blob: 5 + Int((value + 1).loadUnaligned(as: UInt32.self))
        case .null, nil: 1
        }
    }

    /// Sorts the rows by their keys. Rows with equal keys keep their order.
    ///
    /// The order only has to place rows near each other whose keys are near in the index. If a key has another type than its
    /// column, all rows keep their order.
    func sortByKey() {
        guard hasUniformKeys else { return }
        rows.sort { left, right in
            if left.keyPrefix != right.keyPrefix { return left.keyPrefix < right.keyPrefix }
            let order = compareTexts(at: left.keyOffset, right.keyOffset)
            return order != 0 ? order < 0 : left.offset < right.offset
        }
    }

    /// Returns true if the first key column of each row is larger than that of the row before it, and then sets `last` to
    /// that of the last row. No two such rows have the same key.
    func ascends(after last: inout LastKey?) -> Bool {
        guard key != nil, hasUniformKeys, let first = rows.first else { return rows.isEmpty }
        if let last {
            guard first.keyOffset >= 0, first.keyPrefix >= last.prefix else { return false }
            if first.keyPrefix == last.prefix {
                guard let text = text(at: first.keyOffset),
                    last.text.withUnsafeBytes({ compare($0, text) }) < 0
                else { return false }
            }
        }
        var former: RowStart?
        for row in rows {
            guard row.keyOffset >= 0 else { return false }
            if let former {
                guard former.keyPrefix <= row.keyPrefix else { return false }
                guard former.keyPrefix < row.keyPrefix || compareTexts(at: former.keyOffset, row.keyOffset) < 0
                else { return false }
            }
            former = row
        }
        last = former.map { LastKey(prefix: $0.keyPrefix, text: text(at: $0.keyOffset).map(Array.init) ?? []) }
        return true
    }

    private func compareTexts(at left: Int, _ right: Int) -> Int {
        guard left >= 0, right >= 0, let leftText = text(at: left), let rightText = text(at: right) else { return 0 }
        return compare(leftText, rightText)
    }

    private func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let length = min(left.count, right.count)
        guard length > 0, let leftBytes = left.baseAddress, let rightBytes = right.baseAddress else {
            return left.count - right.count
        }
        let order = memcmp(leftBytes, rightBytes, length)
        return order != 0 ? Int(order) : left.count - right.count
    }

    private func text(at offset: Int) -> UnsafeRawBufferPointer? {
        switch Tag(rawValue: bytes.load(fromByteOffset: offset, as: UInt8.self)) {
        case .text, .blob:
            let length = Int(bytes.loadUnaligned(fromByteOffset: offset + 1, as: UInt32.self))
            return UnsafeRawBufferPointer(start: bytes + offset + 5, count: length)
        default:
            return nil
        }
    }
}
