import XMLStream

/// Reads JSON (RFC 8259) while it arrives, and passes it to XML parsers as elements. So the same parsers and mappings
/// read both formats.
///
/// The document is the element `json`. A member of an object is an element with the member's name. An array repeats the
/// element of its member; inside another array or at the top level its elements are named `item`. `null` is no element.
/// A name that an object has twice gives two elements.
///
/// ``ElementNaming`` turns a member's name into an element name. A character that XML cannot hold (most below U+0020,
/// U+FFFE, U+FFFF, one half of a surrogate pair) becomes U+FFFD, the replacement character.
final class JSONReader: DocumentReader {
    static let rootName = "json"
    static let itemName = "item"
    /// The most objects and arrays within one another.
    static let depthLimit = 512
    /// The most bytes of a number or of a member's name.
    static let tokenLimit = 1000

    /// One element name for each parser.
    typealias Name = [XMLStreamParser.ElementName]

    enum Container {
        case object, array
    }

    enum State {
        case value, firstNameOrEnd, name, colon, commaOrEnd, firstValueOrEnd, end
        case string(isName: Bool)
        case escape(isName: Bool)
        case unicode(isName: Bool, digits: Int, value: UInt32)
        case literal
    }

    let streams: [XMLStreamParser]
    var state = State.value
    private var containers: [Container] = []
    /// The name of the current element in each open container, by depth.
    var names: [Name] = []
    private let item: Name
    /// True for the value of a line of JSON Lines.
    private let isLine: Bool
    /// Element names met so far, by the bytes of the members' names.
    var known: [[UInt8]: Name] = [:]
    /// The bytes so far of a name or a literal.
    var token: [UInt8] = []
    /// The bytes so far of a character of several bytes.
    var character: [UInt8] = []
    var highSurrogate: UInt32?
    private var line = 1
    private var hasBegun = false

    /// - Parameters:
    ///   - streams: the parsers that receive the document. They must get no other input.
    ///   - root: the name of the document's element.
    init(_ streams: [XMLStreamParser], root: String = rootName) throws {
        self.streams = streams
        isLine = root != Self.rootName
        item = try streams.names(Self.itemName)
        names = [try streams.names(root)]
    }

    /// - Throws: ``DocumentError`` with the line if the bytes are not JSON; also the errors of the parsers.
    func read(_ bytes: UnsafeRawBufferPointer) throws {
        let bytes = bytes.bindMemory(to: UInt8.self)
        var index = hasBegun ? 0 : try begin(bytes)
        while index < bytes.count {
            if case .string(let isName) = state, character.isEmpty {
                let end = bytes[index...].firstIndex { !Self.isPlain($0) } ?? bytes.count
                if end > index {
                    try takeText(UnsafeBufferPointer(rebasing: bytes[index..<end]), isName)
                    index = end
                    continue
                }
            }
            if bytes[index] == 0x0A { line += 1 }
            try take(bytes[index])
            index += 1
        }
    }

    /// - Throws: ``DocumentError`` if the document is not complete.
    func finish() throws {
        if case .literal = state, containers.isEmpty { try endLiteral() }
        guard case .end = state else { throw problem("the document ends within its value") }
    }

    /// Ends a line of JSON Lines, so that the next value may begin. A line without a value is nothing.
    func endLine() throws {
        if case .literal = state, containers.isEmpty { try endLiteral() }
        switch state {
        case .value where containers.isEmpty: break
        case .end: state = .value
        default: throw problem("the line ends within its value")
        }
        line += 1
    }

    /// Returns the length of the byte order mark.
    ///
    /// - Throws: ``DocumentError`` for UTF-16 and UTF-32, in which every ASCII character has a NUL. JSON in UTF-8 has
    ///   none in its first bytes.
    private func begin(_ start: UnsafeBufferPointer<UInt8>) throws -> Int {
        hasBegun = true
        let mark = ByteOrderMark(start)
        let skipped = mark == .utf8 ? ByteOrderMark.utf8.length : 0
        let first = start[skipped...].drop(while: isXMLSpace).prefix(2)
        if mark ?? .utf8 != .utf8 || first.contains(0) {
            throw DocumentError(
                "the body is JSON in UTF-16 or UTF-32; JSON is in UTF-8 (RFC 8259, section 8.1)")
        }
        return skipped
    }

    private func take(_ byte: UInt8) throws {
        switch state {
        case .string(let isName): try takeString(byte, isName)
        case .escape(let isName): try takeEscape(byte, isName)
        case .unicode(let isName, let digits, let value): try takeUnicode(byte, isName, digits, value)
        case .literal:
            switch byte {
            case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), 0x20, 0x09, 0x0A, 0x0D:
                try endLiteral()
                try take(byte)
            default:
                token.append(byte)
                guard token.count <= Self.tokenLimit else {
                    throw problem("a number is longer than \(Self.tokenLimit) characters")
                }
            }
        default:
            if !isXMLSpace(byte) { try takeStructure(byte) }
        }
    }

    private func takeStructure(_ byte: UInt8) throws {
        switch (state, byte) {
        case (.value, UInt8(ascii: "{")), (.firstValueOrEnd, UInt8(ascii: "{")):
            try open(.object)
        case (.value, UInt8(ascii: "[")), (.firstValueOrEnd, UInt8(ascii: "[")):
            try open(.array)
        case (.value, UInt8(ascii: "\"")), (.firstValueOrEnd, UInt8(ascii: "\"")):
            try startElement()
            state = .string(isName: false)
        case (.firstValueOrEnd, UInt8(ascii: "]")), (.firstNameOrEnd, UInt8(ascii: "}")):
            try close()
        case (.value, 0x21..<0x7F), (.firstValueOrEnd, 0x21..<0x7F):
            token = [byte]
            state = .literal
        case (.firstNameOrEnd, UInt8(ascii: "\"")), (.name, UInt8(ascii: "\"")):
            token.removeAll(keepingCapacity: true)
            state = .string(isName: true)
        case (.colon, UInt8(ascii: ":")):
            state = .value
        case (.commaOrEnd, UInt8(ascii: ",")):
            state = containers.last == .object ? .name : .value
        case (.commaOrEnd, UInt8(ascii: "}")) where containers.last == .object,
            (.commaOrEnd, UInt8(ascii: "]")) where containers.last == .array:
            try close()
        case (.end, UInt8(ascii: "{")) where !isLine, (.end, UInt8(ascii: "[")) where !isLine:
            throw problem(
                "'\(Character(Unicode.Scalar(byte)))' follows the end of the document's value; if each line is an object, set "
                    + "format = \"jsonl\" (for `infer` and `init`: --format jsonl)")
        case (_, 0x21..<0x7F):
            throw problem("'\(Character(Unicode.Scalar(byte)))' is not expected")
        default:
            throw problem("the byte 0x\(String(byte, radix: 16, uppercase: true)) is not expected")
        }
    }

    // MARK: - Containers

    private var name: Name { names[names.count - 1] }

    private func open(_ container: Container) throws {
        guard containers.count < Self.depthLimit else {
            throw problem("values are nested more than \(Self.depthLimit) deep")
        }
        // An array is no element itself, unless it is the document or within another array.
        let isElement = container == .object || containers.last != .object
        if isElement { try startElement() }
        containers.append(container)
        switch container {
        case .object:
            names.append(item)
            state = .firstNameOrEnd
        case .array:
            names.append(isElement ? item : name)
            state = .firstValueOrEnd
        }
    }

    private func close() throws {
        let container = containers.removeLast()
        names.removeLast()
        if container == .object || containers.last != .object { try endElement() }
        endValue()
    }

    func endValue() { state = containers.isEmpty ? .end : .commaOrEnd }

    private func startElement() throws {
        let name = name
        for index in streams.indices { try streams[index].start(name[index], line: line) }
    }

    func endElement() throws {
        for stream in streams { try stream.end(line: line) }
    }

    func emit(_ text: UnsafeBufferPointer<UInt8>) throws {
        for stream in streams { try stream.text(text, line: line) }
    }

    // MARK: - Values

    private func endLiteral() throws {
        let text = String(decoding: token, as: UTF8.self)
        switch text {
        case "null":
            // The document is always an element, even for `null`.
            if containers.isEmpty {
                try startElement()
                try endElement()
            }
        case "true", "false":
            try emitToken()
        default:
            guard token.withUnsafeBufferPointer(Self.isNumber) else {
                throw problem("'\(text.prefix(40))' is not a value")
            }
            try emitToken()
        }
        endValue()
    }

    /// Returns true for a number of RFC 8259, section 6: unlike XML Schema's, it has a digit on each side of the point,
    /// and no zero before other digits.
    private static func isNumber(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let unsigned = text.first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        let whole = unsigned.prefix { $0 &- UInt8(ascii: "0") < 10 }
        guard let first = whole.first, whole.count == 1 || first != UInt8(ascii: "0") else { return false }
        let rest = unsigned.dropFirst(whole.count)
        let isPoint = rest.first == UInt8(ascii: ".")
        guard !isPoint || rest.dropFirst().first.map({ $0 &- UInt8(ascii: "0") < 10 }) ?? false else { return false }
        return Lexical.isDecimal(text, exponent: true)
    }

    private func emitToken() throws {
        try startElement()
        try token.withUnsafeBufferPointer { try emit($0) }
        try endElement()
    }

    func problem(_ message: String) -> DocumentError {
        DocumentError("line \(line) of the JSON body: \(message)")
    }
}

/// Reads JSON Lines, a JSON value on each line, while it arrives: the document is the element `jsonl`, and a line's value
/// the element `row`, with what ``JSONReader`` makes of the value. Lines without a value are skipped.
final class JSONLinesReader: DocumentReader {
    private let values: JSONReader
    private let root: JSONReader.Name
    private var hasBegun = false

    /// - Parameter streams: the parsers that receive the document. They must get no other input.
    init(_ streams: [XMLStreamParser]) throws {
        root = try streams.names("jsonl")
        values = try JSONReader(streams, root: "row")
    }

    /// - Throws: ``DocumentError`` with the number of a line that is no JSON value; also the errors of the parsers.
    func read(_ bytes: UnsafeRawBufferPointer) throws {
        try begin()
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try values.read(UnsafeRawBufferPointer(rebasing: rest[..<end]))
            try values.endLine()
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        if !rest.isEmpty { try values.read(rest) }
    }

    func finish() throws {
        try begin()
        try values.endLine()
        for stream in values.streams { try stream.end(line: stream.line) }
    }

    private func begin() throws {
        guard !hasBegun else { return }
        hasBegun = true
        for (stream, name) in zip(values.streams, root) { try stream.start(name, line: 1) }
    }
}
