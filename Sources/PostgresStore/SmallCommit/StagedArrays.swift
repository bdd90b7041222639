import FeedStaging

/// Staged rows as arrays, one for each column after that of the rows' numbers.
final class StagedArrays: StagedRowWriter {
    private(set) var arrays: [PostgresTextArray]
    private(set) var rows = 0
    /// NULLs in each column after the number.
    private(set) var nulls: [Int] = []
    /// True if a text has more characters than its column takes.
    private(set) var isTooLong = false

    private let mostCharacters: [Int?]
    private var column = 0

    /// - Throws: ``CopiedColumn/ValueProblem``
    init(_ part: StagedStack.Part, _ columns: [ParameterColumn]) throws {
        arrays = Array(repeating: PostgresTextArray(), count: columns.count + 1)
        mostCharacters = [nil] + columns.map(\.mostCharacters)
        let copied = columns.map {
            CopiedColumn(name: $0.column.name, typeName: $0.column.typeName, emptyIsNull: $0.column.emptyIsNull)
        }
        nulls = try StagedRows(scratch: nil, batches: part.batches, columns: copied).write(to: self)
    }

    func appendNull() {
        arrays[column].appendNull()
        column += 1
    }

    func append(_ integer: Int64) { append(integer.description) }

    func append(_ double: Double) {
        append(double.isFinite ? double.description : double < 0 ? "-Infinity" : "Infinity")
    }

    func append(text: UnsafeRawBufferPointer) -> Bool {
        let text = text.bindMemory(to: UInt8.self)
        if let most = mostCharacters[column], text.count > most {
            // Each character begins with a byte that is no continuation.
            isTooLong = isTooLong || text.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) } > most
        }
        guard (try? arrays[column].append(text)) != nil else { return false }
        column += 1
        return true
    }

    func append(hex data: UnsafeRawBufferPointer, isBytea: Bool) {
        let digits = Array("0123456789abcdef".utf8)
        var text = isBytea ? Array("\\x".utf8) : []
        for byte in data { text += [digits[Int(byte >> 4)], digits[Int(byte & 0xF)]] }
        _ = text.withUnsafeBytes { append(text: $0) }
    }

    func endRow() {
        column = 0
        rows += 1
    }

    private func append(_ word: String) {
        var word = word
        _ = word.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
    }
}
