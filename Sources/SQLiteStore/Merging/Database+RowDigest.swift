import GRDB
import GRDBSQLite

extension Database {
    private static let digestFunction = "tributary_digest"

    /// Adds the SQL function `tributary_digest(…)`. It returns a number that is the same for values of the same types
    /// and bytes, in every process. It detects changes of a row, but does not resist attacks.
    func addRowDigest() throws {
        let code = sqlite3_create_function_v2(
            sqliteConnection, Self.digestFunction, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, nil, digestValues, nil, nil,
            nil)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }

    /// Returns an expression for the digest of values.
    static func rowDigest(of values: [String]) -> String {
        // A function takes 127 arguments (limits.html, "SQLITE_MAX_FUNCTION_ARG").
        let digests = stride(from: 0, to: values.count, by: 100).map { start in
            "\(digestFunction)(\(values[start..<min(start + 100, values.count)].joined(separator: ", ")))"
        }
        return digests.count == 1 ? digests[0] : "\(digestFunction)(\(digests.joined(separator: ", ")))"
    }
}

private func digestValues(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    var digest = ValueDigest()
    for index in 0..<Int(count) {
        let value = values?[index]
        let type = sqlite3_value_type(value)
        digest.add(UInt64(truncatingIfNeeded: type))
        switch type {
        case SQLITE_INTEGER:
            digest.add(UInt64(bitPattern: sqlite3_value_int64(value)))
        case SQLITE_FLOAT:
            digest.add(sqlite3_value_double(value).bitPattern)
        case SQLITE_TEXT, SQLITE_BLOB:
            // In this order: reading the text or the blob may convert it, and its length is then that of the result.
            let start =
                type == SQLITE_TEXT ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
            let length = Int(sqlite3_value_bytes(value))
            digest.add(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length))
        default:
            break
        }
    }
    sqlite3_result_int64(context, Int64(bitPattern: digest.value))
}

/// A digest of numbers and bytes: eight bytes at a time are multiplied by an odd number, and the high half of the product
/// is folded into the low one, as in wyhash.
private struct ValueDigest {
    private(set) var value: UInt64 = 0x9E37_79B9_7F4A_7C15

    mutating func add(_ number: UInt64) {
        let product = (value ^ number).multipliedFullWidth(by: 0xD6E8_FEB8_6659_FD93)
        value = (product.high ^ product.low) &+ 0x9E37_79B9_7F4A_7C15
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        add(UInt64(bytes.count))
        var offset = 0
        while offset + 8 <= bytes.count {
            add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            offset += 8
        }
        guard offset < bytes.count else { return }
        var rest: UInt64 = 0
        for (place, byte) in bytes[offset...].enumerated() { rest |= UInt64(byte) << UInt64(8 * place) }
        add(rest)
    }
}
