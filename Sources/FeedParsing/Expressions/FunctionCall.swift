import FeedModel
import GRDBSQLite

/// Makes SQLite copy a result.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// A call of an SQL function, while it lasts: its arguments and its result.
struct FunctionCall {
    let context: OpaquePointer
    let arguments: UnsafeBufferPointer<OpaquePointer?>

    init(_ context: OpaquePointer, _ count: Int32, _ arguments: UnsafeMutablePointer<OpaquePointer?>?) {
        self.context = context
        self.arguments = UnsafeBufferPointer(start: arguments, count: Int(count))
    }

    /// True if an argument is NULL, which makes the result NULL.
    var hasNull: Bool { arguments.contains { sqlite3_value_type($0) == SQLITE_NULL } }

    /// Returns an argument's text, valid while the call lasts; nil for NULL.
    func text(_ index: Int) -> UnsafeBufferPointer<UInt8>? {
        guard let text = sqlite3_value_text(arguments[index]) else { return nil }
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_value_bytes(arguments[index])))
    }

    func string(_ index: Int) -> String? { text(index).map { String(decoding: $0, as: UTF8.self) } }

    /// Returns the number of an argument's bytes, as a text or a blob.
    func byteCount(_ index: Int) -> Int { Int(sqlite3_value_bytes(arguments[index])) }

    func integer(_ index: Int) -> Int64 { sqlite3_value_int64(arguments[index]) }

    func isInteger(_ index: Int) -> Bool { sqlite3_value_numeric_type(arguments[index]) == SQLITE_INTEGER }

    // MARK: - Results

    func answerNull() { sqlite3_result_null(context) }

    func answer(_ isTrue: Bool) { sqlite3_result_int(context, isTrue ? 1 : 0) }

    func answer(_ text: UnsafeBufferPointer<UInt8>) {
        text.withMemoryRebound(to: CChar.self) { characters in
            guard let start = characters.baseAddress else { return sqlite3_result_text(context, "", 0, transient) }
            sqlite3_result_text(context, start, Int32(clamping: characters.count), transient)
        }
    }

    func answer(_ text: String) {
        var text = text
        text.withUTF8 { answer($0) }
    }

    func answer(_ bytes: [UInt8]) { bytes.withUnsafeBufferPointer { answer($0) } }

    /// Returns a value of another connection.
    func answer(_ value: OpaquePointer?) { sqlite3_result_value(context, value) }

    func fail(_ message: String) { sqlite3_result_error(context, message, -1) }

    /// Fails for a reason that lies in the expression, whatever the record.
    func failByDeclaration(_ text: String, help: String? = nil) {
        let finding = Finding(text, help: help)
        functions.fault = finding
        fail("\(finding)")
    }
}
