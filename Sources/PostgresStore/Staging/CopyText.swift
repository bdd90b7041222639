import Foundation

/// Rows in the text format of COPY, in one block of memory that is sent when it is full.
///
/// Values come column by column; ``endRow()`` after the last of a row.
final class CopyText {
    /// The size at which the rows so far are sent.
    private static let blockSize = 64 << 10

    private var bytes: UnsafeMutablePointer<UInt8>
    private var capacity = 2 * CopyText.blockSize
    @exclusivity(unchecked) private var count = 0
    @exclusivity(unchecked) private var isFirst = true
    private let send: (UnsafeRawBufferPointer) throws -> Void
    /// Rows that have been ended.
    @exclusivity(unchecked) private(set) var rows = 0

    /// - Parameter send: takes the bytes, cut anywhere.
    init(_ send: @escaping (UnsafeRawBufferPointer) throws -> Void) {
        self.send = send
        bytes = .allocate(capacity: capacity)
    }

    deinit { bytes.deallocate() }

    func appendNull() {
        startValue(2)
        put(Self.backslash)
        put(UInt8(ascii: "N"))
    }

    func append(_ integer: Int64) {
        startValue(20)
        var magnitude = integer.magnitude
        if integer < 0 { put(UInt8(ascii: "-")) }
        // The digits come in the order of the last first.
        let start = count
        repeat {
            put(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: magnitude % 10))
            magnitude /= 10
        } while magnitude > 0
        var (low, high) = (start, count - 1)
        while low < high {
            swap(&bytes[low], &bytes[high])
            low += 1
            high -= 1
        }
    }

    /// Appends a number with the fewest digits that identify it.
    func append(_ double: Double) {
        guard double.isFinite else { return append(word: double < 0 ? "-Infinity" : "Infinity") }
        append(word: double.description)
    }

    /// - Returns: false, and the row is spoiled, where the text holds U+0000.
    func append(text: UnsafeRawBufferPointer) -> Bool {
        // Each byte becomes two at most.
        startValue(2 * text.count)
        for byte in text {
            if byte >= 0x20 && byte != Self.backslash {
                put(byte)
                continue
            }
            switch byte {
            case 0: return false
            case Self.backslash: put(Self.backslash, Self.backslash)
            case UInt8(ascii: "\n"): put(Self.backslash, UInt8(ascii: "n"))
            case UInt8(ascii: "\r"): put(Self.backslash, UInt8(ascii: "r"))
            case UInt8(ascii: "\t"): put(Self.backslash, UInt8(ascii: "t"))
            default: put(byte)
            }
        }
        return true
    }

    /// Appends bytes as hexadecimal digits.
    ///
    /// - Parameter isBytea: true for the type `bytea`, whose texts begin with `\x`.
    func append(hex data: UnsafeRawBufferPointer, isBytea: Bool) {
        startValue(3 + 2 * data.count)
        if isBytea {
            put(Self.backslash, Self.backslash)
            put(UInt8(ascii: "x"))
        }
        for byte in data { put(Self.digit(byte >> 4), Self.digit(byte & 0xF)) }
    }

    func endRow() throws {
        reserve(1)
        put(UInt8(ascii: "\n"))
        isFirst = true
        rows += 1
        if count >= Self.blockSize { try flush() }
    }

    /// Sends the remaining bytes.
    func flush() throws {
        try send(UnsafeRawBufferPointer(start: bytes, count: count))
        count = 0
    }

    private static let backslash = UInt8(ascii: "\\")

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? value + UInt8(ascii: "0") : value + 87 }

    private func append(word: String) {
        startValue(word.utf8.count)
        for byte in word.utf8 { put(byte) }
    }

    /// Makes room for a value of so many bytes, and separates it from the one before.
    @inline(__always) private func startValue(_ size: Int) {
        reserve(size + 1)
        if !isFirst { put(UInt8(ascii: "\t")) }
        isFirst = false
    }

    @inline(__always) private func put(_ byte: UInt8) {
        bytes[count] = byte
        count += 1
    }

    @inline(__always) private func put(_ first: UInt8, _ second: UInt8) {
        put(first)
        put(second)
    }

    @inline(__always) private func reserve(_ size: Int) {
        if count + size > capacity { grow(size) }
    }

    private func grow(_ size: Int) {
        capacity = max(2 * capacity, count + size)
        let larger = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        larger.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = larger
    }
}

/// The place at which COPY stopped, as the server's words tell it: `COPY items, line 3, column size: "abc"`. In other
/// languages than English the words between are others.
struct CopyPlace: Equatable {
    /// The row, from 1.
    var line: Int
    var column: String?

    init?(_ context: String, table: String) {
        guard let name = context.range(of: table) else { return nil }
        let rest = context[name.upperBound...].drop { !$0.isASCII || !$0.isNumber }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let line = Int(digits) else { return nil }
        self.line = line
        // ", column size: "abc"".
        let place = rest[digits.endIndex...]
        guard place.hasPrefix(", "), let end = place.range(of: ": ") else { return }
        let words = place[place.index(place.startIndex, offsetBy: 2)..<end.lowerBound]
        guard let space = words.firstIndex(of: " ") else { return }
        column = String(words[words.index(after: space)...])
    }
}
