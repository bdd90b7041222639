/// A row on its way from one store to another, in memory that the next row uses again.
package final class TransferRow {
    package enum Value: Sendable, Equatable {
        case null
        case integer(Int64)
        case real(Double)
        /// UTF-8, by its place in the row's bytes.
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    package var values: [Value] = []
    private var bytes: [UInt8] = []

    package init() {}

    package func removeAll() {
        values.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    package func appendNull() { values.append(.null) }
    package func append(_ integer: Int64) { values.append(.integer(integer)) }
    package func append(_ real: Double) { values.append(.real(real)) }
    package func append(text: UnsafeRawBufferPointer) { values.append(.text(place(text))) }
    package func append(blob: UnsafeRawBufferPointer) { values.append(.blob(place(blob))) }

    package func append(text: String) {
        var text = text
        text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
    }

    /// Lends the bytes of a text or a blob.
    package func withBytes<Value>(
        _ range: Range<Int>, _ body: (UnsafeRawBufferPointer) throws -> Value
    ) rethrows -> Value {
        try bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    package func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    /// Puts the digits of a blob in its place, as PostgreSQL writes them.
    func spellBlob(at column: Int) {
        guard case .blob(let range) = values[column] else { return }
        let digits = "\\x" + withBytes(range) { $0.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() }
        values[column] = .text(place(Array(digits.utf8)))
    }

    /// The value of a column, for users.
    package func description(ofColumn column: Int) -> String {
        switch values[column] {
        case .null: "NULL"
        case .integer(let integer): String(integer)
        case .real(let real): String(real)
        case .text(let range): "'\(text(range).prefix(100))'"
        case .blob(let range): "\(range.count) bytes"
        }
    }

    private func place(_ source: some Collection<UInt8>) -> Range<Int> {
        let start = bytes.count
        bytes.append(contentsOf: source)
        return start..<bytes.count
    }
}
