import CSQLite
import GRDB

extension Database {
    /// Adds the SQL function `row_hash(…)`. It returns one number for any values, which is the same for values of the
    /// same types and bytes. It differs between processes.
    ///
    /// GRDB's own functions get text as `String`s, which end at a NUL and have invalid UTF-8 repaired.
    func addRowHash() throws {
        let flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC
        let code = sqlite3_create_function_v2(
            sqliteConnection, "row_hash", -1, flags, nil, rowHash, nil, nil, nil)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
    }
}

private func rowHash(
    _ context: OpaquePointer?, _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) {
    var hasher = Hasher()
    for index in 0..<Int(count) {
        let value = values?[index]
        let type = sqlite3_value_type(value)
        hasher.combine(type)
        switch type {
        case SQLITE_INTEGER:
            hasher.combine(sqlite3_value_int64(value))
        case SQLITE_FLOAT:
            hasher.combine(sqlite3_value_double(value))
        case SQLITE_TEXT, SQLITE_BLOB:
            // In this order: reading the text or the blob may convert it, and its length is then that of the result.
            let start =
                type == SQLITE_TEXT
                ? UnsafeRawPointer(sqlite3_value_text(value)) : sqlite3_value_blob(value)
            let length = Int(sqlite3_value_bytes(value))
            hasher.combine(length)
            hasher.combine(bytes: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : length))
        default:
            break
        }
    }
    sqlite3_result_int64(context, Int64(hasher.finalize()))
}
