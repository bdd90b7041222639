import GRDBSQLite
import XMLStream

/// Makes SQLite copy the bound value.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// Binds a value to a parameter of a statement.
final class BindingSink {
    private var statement: OpaquePointer?
    private var parameter: Int32 = 0
    private var isNumeric = false
    /// SQLite's result for the value.
    private(set) var code: Int32 = SQLITE_OK

    /// Sets the parameter for the next value.
    ///
    /// - Parameter isNumeric: true if texts are decimals, which are bound as numbers.
    func begin(_ statement: OpaquePointer, _ parameter: Int32, isNumeric: Bool) {
        self.statement = statement
        self.parameter = parameter
        self.isNumeric = isNumeric
        code = SQLITE_OK
    }

    func appendNull() { code = sqlite3_bind_null(statement, parameter) }
    func append(_ value: Int64) { code = sqlite3_bind_int64(statement, parameter, value) }
    func append(_ value: Double) { code = sqlite3_bind_double(statement, parameter, value) }

    func append(text: UnsafeRawBufferPointer) {
        if isNumeric {
            let digits = text.bindMemory(to: UInt8.self)
            if let number = Lexical.int(digits) { return append(Int64(number)) }
            if let number = Lexical.double(digits), !number.isNaN { return append(number) }
        }
        let characters = text.bindMemory(to: CChar.self)
        guard let start = characters.baseAddress else {
            code = sqlite3_bind_text(statement, parameter, "", 0, transient)
            return
        }
        code = sqlite3_bind_text64(
            statement, parameter, start, UInt64(characters.count), transient, UInt8(SQLITE_UTF8))
    }

    func append(blob: UnsafeRawBufferPointer) {
        guard let start = blob.baseAddress else {
            code = sqlite3_bind_zeroblob(statement, parameter, 0)
            return
        }
        code = sqlite3_bind_blob64(statement, parameter, start, UInt64(blob.count), transient)
    }
}
