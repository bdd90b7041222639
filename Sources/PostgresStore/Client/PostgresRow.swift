import CLibPQ

/// A row of a result. NULL is nil; columns count from 0.
package struct PostgresRow {
    let result: PostgresResult
    let row: Int32

    package var columnCount: Int { result.columnCount }

    /// As those of ``PostgresResult/columnTypes``.
    package var columnTypes: [UInt32] { result.columnTypes }

    package func isNull(_ column: Int) -> Bool { bytes(of: column) == nil }

    /// The text form of any type.
    package func string(_ column: Int) -> String? { bytes(of: column).map { String(decoding: $0, as: UTF8.self) } }

    /// Lends the value's bytes as the server sent them: the text form, in UTF-8.
    package func withBytes<Value>(_ column: Int, _ body: (UnsafeRawBufferPointer?) throws -> Value) rethrows -> Value {
        try withExtendedLifetime(result) { try body(bytes(of: column)) }
    }

    /// - Throws: ``PostgresError``, as the other types do, where the value is no integer of 64 bits.
    package func int64(_ column: Int) throws -> Int64? {
        try parse(column, "integer") { bytes in
            // Short and without signs for most, which makes the general parser's time matter.
            guard bytes.count < 19, bytes.allSatisfy({ $0 &- 48 < 10 }), !bytes.isEmpty else {
                return Int64(String(decoding: bytes, as: UTF8.self))
            }
            return bytes.reduce(0) { $0 &* 10 &+ Int64($1 &- 48) }
        }
    }

    package func int(_ column: Int) throws -> Int? { try int64(column).map { Int($0) } }

    package func double(_ column: Int) throws -> Double? {
        try parse(column, "number") { Double(String(decoding: $0, as: UTF8.self)) }
    }

    package func bool(_ column: Int) throws -> Bool? {
        try parse(column, "boolean") { bytes in
            guard bytes.count == 1 else { return nil }
            return switch bytes[0] {
            case UInt8(ascii: "t"): true
            case UInt8(ascii: "f"): false
            default: nil
            }
        }
    }

    /// A `bytea`, under either value of `bytea_output`.
    package func bytes(_ column: Int) throws -> [UInt8]? { try parse(column, "bytea", ByteaText.decoded) }

    /// The elements of a `text[]`, or of another array of one dimension in text form.
    package func stringArray(_ column: Int) throws -> [String?]? { try parse(column, "array", ArrayText.decoded) }

    private func parse<Value>(_ column: Int, _ type: String, _ body: (UnsafeRawBufferPointer) -> Value?) throws
        -> Value?
    {
        try withBytes(column) { bytes in
            guard let bytes else { return nil }
            guard let value = body(bytes) else {
                throw result.mismatch(row, column, String(decoding: bytes, as: UTF8.self), type)
            }
            return value
        }
    }

    private func bytes(of column: Int) -> UnsafeRawBufferPointer? {
        precondition(column >= 0 && column < columnCount, "column \(column) of a row of \(columnCount) columns")
        guard PQgetisnull(result.result, row, Int32(column)) == 0 else { return nil }
        return UnsafeRawBufferPointer(
            start: PQgetvalue(result.result, row, Int32(column)),
            count: Int(PQgetlength(result.result, row, Int32(column))))
    }
}
