import FeedConfiguration
import XMLStream

/// Reads JSON (RFC 8259) while it arrives, and passes it to an XML parser as elements. So the same parsers and mappings
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

    private typealias Name = XMLStreamParser.ElementName

    private enum Container {
        case object, array
    }

    private enum State {
        case value, firstNameOrEnd, name, colon, commaOrEnd, firstValueOrEnd, end
        case string(isName: Bool)
        case escape(isName: Bool)
        case unicode(isName: Bool, digits: Int, value: UInt32)
        case literal
    }

    private let stream: XMLStreamParser
    // `@exclusivity(unchecked)`: used by the run's executor only, several times a value.
    @exclusivity(unchecked) private var state = State.value
    @exclusivity(unchecked) private var containers: [Container] = []
    /// The name of the current element in each open container, by depth.
    @exclusivity(unchecked) private var names: [Name] = []
    private let item: Name
    /// True for the value of a line of JSON Lines.
    private let isLine: Bool
    /// The members' names met so far, with their elements' names, and the place of each among them.
    @exclusivity(unchecked) private var known: [(token: [UInt8], name: Name)] = []
    @exclusivity(unchecked) private var places: [[UInt8]: Int] = [:]
    /// The place of the name behind the last one: the members of most objects come in one order.
    @exclusivity(unchecked) private var next = 0
    /// The bytes so far of a name or a literal.
    @exclusivity(unchecked) private var token: [UInt8] = []
    /// True once the element of a string has begun.
    @exclusivity(unchecked) private var isOpen = false
    @exclusivity(unchecked) private var highSurrogate: UInt32?
    @exclusivity(unchecked) private var line = 1
    @exclusivity(unchecked) private var decoder: TextDecoder?

    /// - Parameters:
    ///   - stream: the parser that receives the document. It must get no other input.
    ///   - root: the name of the document's element.
    init(_ stream: XMLStreamParser, root: String = rootName) throws {
        self.stream = stream
        isLine = root != Self.rootName
        item = try stream.elementName(Self.itemName)
        names = [try stream.elementName(root)]
    }

    /// - Throws: ``DocumentError`` with the line if the bytes are not JSON; also the errors of the parser.
    func read(_ bytes: UnsafeRawBufferPointer) throws {
        var text = bytes.bindMemory(to: UInt8.self)
        if decoder == nil { text = UnsafeBufferPointer(rebasing: text[try begin(text)...]) }
        try locating { try decoder?.decode(text) { try scan($0) } }
    }

    /// Reads whole characters.
    private func scan(_ text: UnsafeBufferPointer<UInt8>) throws {
        var index = 0
        while index < text.count {
            switch state {
            case .string(let isName): index = try scanString(text, index, isName)
            case .literal: index = try scanLiteral(text, index)
            default:
                if text[index] == 0x0A { line += 1 }
                try take(text[index])
                // The first character of a literal is read with the others.
                if case .literal = state {} else { index += 1 }
            }
        }
    }

    private func scanString(_ text: UnsafeBufferPointer<UInt8>, _ start: Int, _ isName: Bool) throws -> Int {
        // U+FFFE and U+FFFF begin with 0xEF.
        var end = text.firstControl(from: start, or: UInt8(ascii: "\""), UInt8(ascii: "\\"), 0xEF)
        if !isName, !isOpen {
            if end < text.count, text[end] == UInt8(ascii: "\"") {
                try stream.element(name, UnsafeBufferPointer(rebasing: text[start..<end]), line: line)
                endValue()
                return end + 1
            }
            try startElement()
            isOpen = true
        }
        if end < text.count, text[end] == 0xEF {
            // XML cannot hold U+FFFE and U+FFFF.
            let isForbidden = text[end + 1] == 0xBF && text[end + 2] >= 0xBE
            if isForbidden, end == start {
                try take(nil, isName)
                return end + 3
            }
            if !isForbidden { end += 3 }
        }
        guard end == start else {
            try takeText(UnsafeBufferPointer(rebasing: text[start..<end]), isName)
            return end
        }
        if text[end] == 0x0A { line += 1 }
        try takeString(text[end], isName)
        return end + 1
    }

    private func scanLiteral(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) throws -> Int {
        var end = start
        while end < text.count, !Self.endsLiteral(text[end]) { end += 1 }
        let part = UnsafeBufferPointer(rebasing: text[start..<end])
        guard token.count + part.count <= Self.tokenLimit else {
            throw problem("a number is longer than \(Self.tokenLimit) characters")
        }
        if end < text.count, token.isEmpty {
            try endLiteral(part)
        } else {
            token.append(contentsOf: part)
            if end < text.count { try endLiteral() }
        }
        return end
    }

    /// - Throws: ``DocumentError`` if the document is not complete.
    func finish() throws {
        if case .literal = state, containers.isEmpty { try endLiteral() }
        guard case .end = state else { throw problem("the document ends within its value") }
        try locating { try decoder?.finish { _ in } }
    }

    /// Ends a line of JSON Lines, so that the next value may begin. A line without a value is nothing.
    func endLine() throws {
        if case .literal = state, containers.isEmpty { try endLiteral() }
        switch state {
        case .value where containers.isEmpty: break
        case .end: state = .value
        default: throw problem("the line ends within its value")
        }
        try locating { try decoder?.finish { _ in } }
        line += 1
    }

    /// Returns the length of the byte order mark.
    ///
    /// - Throws: ``DocumentError`` for UTF-16 and UTF-32, in which every ASCII character has a NUL. JSON in UTF-8 has
    ///   none in its first bytes.
    private func begin(_ start: UnsafeBufferPointer<UInt8>) throws -> Int {
        let mark = ByteOrderMark(start)
        let skipped = mark?.length ?? 0
        let first = start[skipped...].drop(while: isXMLSpace).prefix(2)
        if mark ?? .utf8 != .utf8 || first.contains(0) {
            throw DocumentError(
                "the body is JSON in UTF-16 or UTF-32; JSON is in UTF-8 (RFC 8259, section 8.1)")
        }
        decoder = try TextDecoder.make(encoding: nil, start: start).decoder
        return skipped
    }

    private func take(_ byte: UInt8) throws {
        switch state {
        case .escape(let isName): try takeEscape(byte, isName)
        case .unicode(let isName, let digits, let value): try takeUnicode(byte, isName, digits, value)
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
            isOpen = false
            state = .string(isName: false)
        case (.firstValueOrEnd, UInt8(ascii: "]")), (.firstNameOrEnd, UInt8(ascii: "}")):
            try close()
        case (.value, 0x21..<0x7F) where !Self.endsLiteral(byte),
            (.firstValueOrEnd, 0x21..<0x7F) where !Self.endsLiteral(byte):
            token.removeAll(keepingCapacity: true)
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

    private func endValue() { state = containers.isEmpty ? .end : .commaOrEnd }

    private func startElement() throws { try stream.start(name, line: line) }

    private func endElement() throws { try stream.end(line: line) }

    // MARK: - Values

    private static func endsLiteral(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: "}") || byte == UInt8(ascii: "]") || isXMLSpace(byte)
    }

    private func endLiteral() throws { try token.withUnsafeBufferPointer { try endLiteral($0) } }

    private func endLiteral(_ text: UnsafeBufferPointer<UInt8>) throws {
        if text.elementsEqual("null".utf8) {
            // The document is always an element, even for `null`.
            if containers.isEmpty {
                try startElement()
                try endElement()
            }
        } else if NumberText(text)?.isPlain ?? false {
            try stream.number(name, text, line: line)
        } else if text.elementsEqual("true".utf8) || text.elementsEqual("false".utf8) {
            try stream.element(name, text, line: line)
        } else {
            throw problem("'\(String(decoding: text, as: UTF8.self).shortened(to: 40))' is not a value")
        }
        endValue()
    }

    // MARK: - Strings: names of members and values (RFC 8259, section 7)

    private func takeString(_ byte: UInt8, _ isName: Bool) throws {
        switch byte {
        case UInt8(ascii: "\""):
            try endSurrogate(isName)
            if isName {
                names[names.count - 1] = try memberName()
                state = .colon
            } else {
                try endElement()
                endValue()
            }
        case UInt8(ascii: "\\"):
            state = .escape(isName: isName)
        default:
            try take(Unicode.Scalar(byte), isName)
        }
    }

    private func takeText(_ text: UnsafeBufferPointer<UInt8>, _ isName: Bool) throws {
        try endSurrogate(isName)
        guard isName else { return try stream.text(text, line: line) }
        token.append(contentsOf: text)
        guard token.count <= Self.tokenLimit else {
            throw problem("a name is longer than \(Self.tokenLimit) bytes")
        }
    }

    private func take(_ scalar: Unicode.Scalar?, _ isName: Bool) throws {
        var text = scalar.map { String(Character($0)) } ?? "\u{FFFD}"
        if XMLText.forbidden(in: text) != nil { text = "\u{FFFD}" }
        try text.withUTF8 { try takeText($0, isName) }
    }

    private func takeEscape(_ byte: UInt8, _ isName: Bool) throws {
        state = .string(isName: isName)
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): try take(Unicode.Scalar(byte), isName)
        case UInt8(ascii: "b"): try take("\u{08}", isName)
        case UInt8(ascii: "f"): try take("\u{0C}", isName)
        case UInt8(ascii: "n"): try take("\n", isName)
        case UInt8(ascii: "r"): try take("\r", isName)
        case UInt8(ascii: "t"): try take("\t", isName)
        case UInt8(ascii: "u"): state = .unicode(isName: isName, digits: 0, value: 0)
        default: throw problem("a backslash is not followed by an escape")
        }
    }

    private func takeUnicode(_ byte: UInt8, _ isName: Bool, _ digits: Int, _ value: UInt32) throws {
        guard byte < 0x80, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
            throw problem("'\\u' needs four digits")
        }
        let value = value << 4 | UInt32(digit)
        guard digits == 3 else { return state = .unicode(isName: isName, digits: digits + 1, value: value) }
        state = .string(isName: isName)
        switch value {
        case 0xD800...0xDBFF:
            try endSurrogate(isName)
            highSurrogate = value
        case 0xDC00...0xDFFF:
            guard let high = highSurrogate else { return try take(nil, isName) }
            highSurrogate = nil
            try take(Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (value - 0xDC00)), isName)
        default:
            try take(Unicode.Scalar(value), isName)
        }
    }

    /// Replaces half a surrogate pair whose other half does not follow.
    private func endSurrogate(_ isName: Bool) throws {
        guard highSurrogate != nil else { return }
        highSurrogate = nil
        try take(nil, isName)
    }

    // MARK: - Names

    private func memberName() throws -> Name {
        if next >= known.count || known[next].token != token { next = places[token] ?? known.count }
        defer { next += 1 }
        if next < known.count { return known[next].name }
        let name = try stream.elementName(ElementNaming.name(String(decoding: token, as: UTF8.self)), written: token)
        // Names that are data are many, and each occurs once.
        if known.count >= 10_000 { (known, places, next) = ([], [:], 0) }
        places[token] = next
        known.append((token, name))
        return name
    }

    private func locating(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch is TextDecoder.Problem {
            throw problem("a string is not valid UTF-8, which JSON is in (RFC 8259, section 8.1)")
        }
    }

    private func problem(_ message: String) -> DocumentError {
        DocumentError("line \(line) of the JSON body: \(message)")
    }
}
