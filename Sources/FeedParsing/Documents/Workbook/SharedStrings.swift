import FeedModel
import XMLStream

/// The texts that cells of a workbook refer to by number (ISO/IEC 29500-1, section 18.4). Many of them are on disk.
final class SharedStrings {
    private let texts: PagedFile
    /// For each text the offset behind its last byte, in eight bytes.
    private let ends: PagedFile
    private(set) var count = 0

    /// - Parameter folder: the folder for files with texts that memory should not hold.
    init(folder: String) {
        texts = PagedFile(folder: folder)
        ends = PagedFile(folder: folder)
    }

    func append(_ text: UnsafeBufferPointer<UInt8>) throws {
        try texts.append(UnsafeRawBufferPointer(text))
        try withUnsafeBytes(of: texts.count) { try ends.append($0) }
        count += 1
    }

    /// Passes a text to `body`. It is valid only inside `body`.
    ///
    /// - Precondition: `0 ≤ number < count`.
    func read(_ number: Int, _ body: (UnsafeBufferPointer<UInt8>) throws -> Void) throws {
        let end = try self.end(number)
        let start = number == 0 ? 0 : try self.end(number - 1)
        guard start < end else { return try body(UnsafeBufferPointer(start: nil, count: 0)) }
        try texts.read(start..<end) { try body($0.bindMemory(to: UInt8.self)) }
    }

    private func end(_ number: Int) throws -> Int {
        try ends.read((number * 8)..<(number * 8 + 8)) { $0.loadUnaligned(as: Int.self) }
    }
}

/// Reads the part with the shared texts.
final class SharedStringsHandler: XMLStreamHandler {
    private let strings: SharedStrings
    private var tags = WorkbookTags()
    private var item = StringItem()

    init(_ strings: SharedStrings) { self.strings = strings }

    override func didStartElement(in stream: XMLStreamParser) {
        let tag = tags.tag(of: stream)
        if stream.depth == 2, tag == .si { item.begin(depth: 2) } else { item.didStart(tag, depth: stream.depth) }
    }

    override func didEndElement(in stream: XMLStreamParser) throws {
        let tag = tags.tag(of: stream)
        guard stream.depth == 2, tag == .si else { return try item.didEnd(tag, stream) }
        try item.end { try strings.append($0) }
    }
}

/// Gathers the text of a string item: its own, or that of its runs, without the phonetic ones (section 18.4.8).
struct StringItem {
    /// The most bytes of a text, as of a field of CSV.
    private static let limit = 16 << 20

    /// The depth of the item's element; 0 outside of an item.
    private var depth = 0
    private var isPhonetic = false
    private var text: [UInt8] = []

    mutating func begin(depth: Int) {
        self.depth = depth
        text.removeAll(keepingCapacity: text.capacity <= 64 << 10)
    }

    mutating func didStart(_ tag: WorkbookTag, depth: Int) {
        if self.depth > 0, tag == .rPh, depth == self.depth + 1 { isPhonetic = true }
    }

    /// - Throws: ``WorkbookProblem`` if all runs together are too long.
    mutating func didEnd(_ tag: WorkbookTag, _ stream: XMLStreamParser) throws {
        guard depth > 0 else { return }
        if tag == .rPh, stream.depth == depth + 1 { isPhonetic = false }
        if tag == .t, !isPhonetic { EscapedText.append(stream.textBytes, to: &text) }
        guard text.count <= Self.limit else {
            throw WorkbookProblem(description: "a text is longer than \(ByteSize.text(Self.limit))")
        }
    }

    /// Passes the text to `body`.
    mutating func end(_ body: (UnsafeBufferPointer<UInt8>) throws -> Void) rethrows {
        depth = 0
        try text.withUnsafeBufferPointer(body)
    }
}

/// Texts in which characters that XML cannot hold are written as `_x000D_` (ISO/IEC 29500-1, section 22.9.2.19).
enum EscapedText {
    /// Appends a text with its characters restored. Line ends become line feeds; other characters that XML cannot hold become
    /// U+FFFD, as in CSV.
    static func append(_ escaped: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]) {
        var rest = escaped[...]
        while let mark = rest.firstIndex(of: UInt8(ascii: "_")) {
            text += rest[..<mark]
            guard let value = value(rest[mark...]) else {
                text.append(UInt8(ascii: "_"))
                rest = rest[(mark + 1)...]
                continue
            }
            rest = rest[(mark + 7)...]
            switch value {
            // With the line feed that follows, a carriage return is one line end.
            case 0x0D where rest.first == 0x0A: break
            case 0x0D: text.append(0x0A)
            case 0..<0x20 where value != 0x09 && value != 0x0A, 0xFFFE, 0xFFFF: text += "\u{FFFD}".utf8
            default: text += String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8
            }
        }
        text += rest
    }

    /// Returns the number of the character with which a text begins, `_x` with four hexadecimal digits and `_`; nil for others.
    private static func value(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> UInt32? {
        let mark = text.startIndex
        guard text.count >= 7, text[mark + 1] == UInt8(ascii: "x"), text[mark + 6] == UInt8(ascii: "_") else {
            return nil
        }
        var value: UInt32 = 0
        for byte in text[(mark + 2)..<(mark + 6)] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt32(digit)
        }
        return value
    }
}
