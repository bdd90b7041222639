import GRDBSQLite
import XMLStream

/// Makes SQLite copy the bound value.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// Binds a value to a parameter of a statement.
final class BindingSink: ValueSink {
    private var statement: OpaquePointer?
    private var parameter: Int32 = 0
    private var isNumeric = false

    /// Sets the parameter for the next value.
    ///
    /// - Parameter isNumeric: true where texts are decimals, which are bound as numbers.
    func begin(_ statement: OpaquePointer, _ parameter: Int32, isNumeric: Bool) {
        self.statement = statement
        self.parameter = parameter
        self.isNumeric = isNumeric
    }

    func appendNull() { sqlite3_bind_null(statement, parameter) }
    func append(_ value: Int64) { sqlite3_bind_int64(statement, parameter, value) }
    func append(_ value: Double) { sqlite3_bind_double(statement, parameter, value) }

    func append(text: UnsafeRawBufferPointer) {
        if isNumeric {
            let digits = text.bindMemory(to: UInt8.self)
            if let number = Lexical.int(digits) { return append(Int64(number)) }
            if let number = Lexical.double(digits), !number.isNaN { return append(number) }
        }
        let characters = text.bindMemory(to: CChar.self)
        guard let start = characters.baseAddress else {
            sqlite3_bind_text(statement, parameter, "", 0, transient)
            return
        }
        sqlite3_bind_text(statement, parameter, start, Int32(characters.count), transient)
    }

    func append(blob: UnsafeRawBufferPointer) {
        guard let start = blob.baseAddress else {
            sqlite3_bind_zeroblob(statement, parameter, 0)
            return
        }
        sqlite3_bind_blob(statement, parameter, start, Int32(blob.count), transient)
    }
}
