import XMLStream

/// Turns JSON (RFC 8259) into XML while it arrives, so that the same parsers and mappings read it.
///
/// The document is the element `json`. An object's member is an element of its name, an array repeats the element of its
/// member, and `item` inside another array or at the top. `null` is no element at all. A name that is none in XML has
/// `_` for each character that may not stand there.
struct JSONTranscoder {
    static let rootName = "json"
    static let itemName = "item"
    /// Objects and arrays within one another.
    static let depthLimit = 512

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

    private var state = State.value
    private var containers: [Container] = []
    /// The element that each value in the open containers is, by depth.
    private var names: [String] = [rootName]
    private var token: [UInt8] = []
    private var highSurrogate: UInt32?
    private var writer = XMLWriter()
    private var line = 1

    init() { writer.markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>".utf8) }

    /// Whether a body's first bytes are JSON and not XML.
    static func isJSON(_ start: some Sequence<UInt8>) -> Bool {
        start.first { !isXMLSpace($0) }.map { $0 == UInt8(ascii: "{") || $0 == UInt8(ascii: "[") } ?? false
    }

    /// The XML that these bytes complete.
    ///
    /// - Throws: ``FetchError`` with the line, where the bytes are not JSON.
    mutating func transcode(_ bytes: UnsafeRawBufferPointer) throws -> [UInt8] {
        for byte in bytes {
            if byte == 0x0A { line += 1 }
            try take(byte)
        }
        return writer.take()
    }

    /// - Throws: ``FetchError`` where the document is not complete.
    mutating func finish() throws -> [UInt8] {
        if case .literal = state, containers.isEmpty { try endLiteral() }
        guard case .end = state else { throw problem("the document ends before its value does") }
        return writer.take()
    }

    private mutating func take(_ byte: UInt8) throws {
        switch state {
        case .string(let isName): try takeString(byte, isName)
        case .escape(let isName): try takeEscape(byte, isName)
        case .unicode(let isName, let digits, let value): try takeUnicode(byte, isName, digits, value)
        case .literal:
            if isXMLSpace(byte) || [UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}")].contains(byte) {
                try endLiteral()
                try take(byte)
            } else {
                token.append(byte)
                guard token.count <= 1024 else { throw problem("a number is longer than 1024 characters") }
            }
        default:
            if !isXMLSpace(byte) { try takeStructure(byte) }
        }
    }

    private mutating func takeStructure(_ byte: UInt8) throws {
        switch (state, byte) {
        case (.value, UInt8(ascii: "{")), (.firstValueOrEnd, UInt8(ascii: "{")):
            try open(.object)
        case (.value, UInt8(ascii: "[")), (.firstValueOrEnd, UInt8(ascii: "[")):
            try open(.array)
        case (.value, UInt8(ascii: "\"")), (.firstValueOrEnd, UInt8(ascii: "\"")):
            token.removeAll(keepingCapacity: true)
            state = .string(isName: false)
        case (.firstValueOrEnd, UInt8(ascii: "]")), (.firstNameOrEnd, UInt8(ascii: "}")):
            close()
        case (.value, _), (.firstValueOrEnd, _):
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
            close()
        default:
            throw problem("'\(Character(Unicode.Scalar(byte)))' is not expected")
        }
    }

    // MARK: - Containers

    private var name: String { names[names.count - 1] }

    private mutating func open(_ container: Container) throws {
        guard containers.count < Self.depthLimit else {
            throw problem("values are nested more than \(Self.depthLimit) deep")
        }
        // An array is no element itself, but for one that is the document or within another array.
        let isElement = container == .object || containers.last != .object
        if isElement { writer.start(name) }
        containers.append(container)
        switch container {
        case .object:
            names.append("")
            state = .firstNameOrEnd
        case .array:
            names.append(isElement ? Self.itemName : name)
            state = .firstValueOrEnd
        }
    }

    private mutating func close() {
        let container = containers.removeLast()
        names.removeLast()
        if container == .object || containers.last != .object { writer.end(name) }
        endValue()
    }

    private mutating func endValue() { state = containers.isEmpty ? .end : .commaOrEnd }

    // MARK: - Values

    private mutating func endLiteral() throws {
        let text = String(decoding: token, as: UTF8.self)
        switch text {
        case "null":
            if containers.isEmpty { emit([]) }
        case "true", "false":
            emit(token)
        default:
            guard token.first.map({ $0 == UInt8(ascii: "-") || $0 &- UInt8(ascii: "0") < 10 }) ?? false,
                token.withUnsafeBufferPointer({ Lexical.isDecimal($0, exponent: true) })
            else { throw problem("'\(text.prefix(40))' is no value") }
            emit(token)
        }
        endValue()
    }

    private mutating func emit(_ text: [UInt8]) {
        writer.start(name)
        // XML has no way to write most control characters.
        writer.text(text.lazy.map { $0 < 0x20 && $0 != 0x09 && $0 != 0x0A && $0 != 0x0D ? UInt8(ascii: "?") : $0 })
        writer.end(name)
    }

    private mutating func takeString(_ byte: UInt8, _ isName: Bool) throws {
        switch byte {
        case UInt8(ascii: "\""):
            if isName {
                names[names.count - 1] = Self.elementName(String(decoding: token, as: UTF8.self))
                state = .colon
            } else {
                emit(token)
                endValue()
            }
        case UInt8(ascii: "\\"):
            state = .escape(isName: isName)
        default:
            token.append(byte)
            guard token.count <= 16 << 20 else { throw problem("a string is longer than 16 MiB") }
        }
    }

    private mutating func takeEscape(_ byte: UInt8, _ isName: Bool) throws {
        state = .string(isName: isName)
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): token.append(byte)
        case UInt8(ascii: "b"): token.append(0x08)
        case UInt8(ascii: "f"): token.append(0x0C)
        case UInt8(ascii: "n"): token.append(0x0A)
        case UInt8(ascii: "r"): token.append(0x0D)
        case UInt8(ascii: "t"): token.append(0x09)
        case UInt8(ascii: "u"): state = .unicode(isName: isName, digits: 0, value: 0)
        default: throw problem("'\\\(Character(Unicode.Scalar(byte)))' is no escape")
        }
    }

    private mutating func takeUnicode(_ byte: UInt8, _ isName: Bool, _ digits: Int, _ value: UInt32) throws {
        guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
            throw problem("'\\u' needs four digits")
        }
        let value = value << 4 | UInt32(digit)
        guard digits == 3 else { return state = .unicode(isName: isName, digits: digits + 1, value: value) }
        state = .string(isName: isName)
        switch value {
        case 0xD800...0xDBFF:
            highSurrogate = value
            return
        case 0xDC00...0xDFFF:
            let high = highSurrogate ?? 0xD800
            let scalar = Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (value - 0xDC00)) ?? "\u{FFFD}"
            token += Array(String(Character(highSurrogate == nil ? "\u{FFFD}" : scalar)).utf8)
        default:
            token += Array(String(Character(Unicode.Scalar(value) ?? "\u{FFFD}")).utf8)
        }
        highSurrogate = nil
    }

    /// A member's name as the name of an element (XML 1.0, production 5).
    private static func elementName(_ name: String) -> String {
        var result = ""
        for character in name {
            let isAllowed =
                character.isLetter || character == "_"
                || (!result.isEmpty && (character.isNumber || "-.".contains(character)))
            if result.isEmpty, character.isNumber { result = "_" }
            result.append(isAllowed || character.isNumber ? character : "_")
        }
        return result.isEmpty ? "_" : result
    }

    private func problem(_ message: String) -> FetchError {
        FetchError(.decoding, "line \(line) of the JSON body: \(message)")
    }
}
