/// The text form of a `text[]` of one dimension, built from bytes: one parameter for many rows, `unnest($1::text[])`.
package struct PostgresTextArray: Sendable, Equatable {
    /// `{"a","b"`, without the brace that closes it.
    private var open: [UInt8] = [UInt8(ascii: "{")]
    package private(set) var count = 0

    package init() {}

    package init(_ elements: some Sequence<String?>) throws {
        for element in elements { try append(element) }
    }

    package mutating func reserveCapacity(_ bytes: Int) { open.reserveCapacity(bytes) }

    /// Leaves no element, and the memory for the next.
    package mutating func removeAll() {
        open.removeAll(keepingCapacity: true)
        open.append(UInt8(ascii: "{"))
        count = 0
    }

    /// As many bytes as the array takes as a parameter.
    package var byteCount: Int { open.count + 1 }

    package mutating func append(_ element: String?) throws {
        guard var element else { return appendNull() }
        try element.withUTF8 { try append($0) }
    }

    package mutating func appendNull() {
        startElement()
        open.append(contentsOf: [UInt8(ascii: "N"), UInt8(ascii: "U"), UInt8(ascii: "L"), UInt8(ascii: "L")])
    }

    /// - Parameter element: UTF-8.
    /// - Throws: ``PostgresError`` if the text holds U+0000; the array then lacks the element.
    package mutating func append(_ element: UnsafeBufferPointer<UInt8>) throws {
        let contents = TextContents(element)
        guard !contents.holdsNull else {
            throw PostgresError(
                .value, "element \(count + 1) of a text[] holds U+0000, which no text of PostgreSQL's can hold")
        }
        startElement()
        open.append(UInt8(ascii: "\""))
        if contents.holdsQuoteOrBackslash {
            for byte in element {
                if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { open.append(UInt8(ascii: "\\")) }
                open.append(byte)
            }
        } else {
            open.append(contentsOf: element)
        }
        open.append(UInt8(ascii: "\""))
    }

    private mutating func startElement() {
        if count > 0 { open.append(UInt8(ascii: ",")) }
        count += 1
    }

    /// Appends the whole literal.
    func write(to buffer: inout [UInt8]) {
        buffer.append(contentsOf: open)
        buffer.append(UInt8(ascii: "}"))
    }

    package var literal: String { String(decoding: open, as: UTF8.self) + "}" }
}

/// Bytes in a text that need care. One pass without branches, which the compiler makes a vector loop.
private struct TextContents {
    var holdsNull = false
    var holdsQuoteOrBackslash = false

    init(_ bytes: UnsafeBufferPointer<UInt8>) {
        for byte in bytes {
            holdsNull = holdsNull || byte == 0
            holdsQuoteOrBackslash = holdsQuoteOrBackslash || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
        }
    }
}
