import CLibXML2

/// Repairs common errors in XML, as a filter of its bytes in front of a parser: in pieces of any size, with a memory
/// that does not depend on the document.
///
/// Only encodings that extend ASCII are repaired; others, such as UTF-16, pass unchanged. Nothing is added at the
/// end: a document that breaks off still does.
package final class XMLRepair {
    /// A kind of error to repair.
    package enum Fault: String, Sendable, CaseIterable {
        /// Characters that XML forbids, and references to them.
        case characters
        /// HTML's named entities.
        case entities
        /// Ampersands that begin no reference, and `<` that opens no tag.
        case ampersands
    }

    /// The number of repairs of each kind.
    package typealias Counts = [Fault: Int]

    private enum State: Equatable {
        case text
        /// After `<`: the held bytes decide whether it opens a tag.
        case opening
        /// Within a start or end tag, outside of attribute values.
        case tag
        case value(quote: UInt8)
        /// Until this text.
        case section(end: [UInt8])
        /// Within the document type declaration. Nothing in it is repaired.
        case declaration
    }

    private let faults: Set<Fault>
    private let charset: String?
    package private(set) var counts: Counts = [:]

    private var state = State.text
    /// The bytes that wait for those after them: a reference, the beginning of a tag, a character of several bytes.
    private var held: [UInt8] = []
    /// True while the held bytes may be a reference.
    private var isReference = false
    /// How many bytes of the text that ends a section have come.
    private var matched = 0
    /// True if the document declares entities of its own: named ones are then its own affair.
    private var declaresEntities = false
    /// Finds the end of the document type declaration.
    private var declaration = DeclarationScanner()
    private var isUTF8 = true
    /// The first bytes, until the encoding is known; nil after that.
    private var start: [UInt8]? = []
    private var passesAll = false
    private var output: [UInt8] = []

    /// - Parameter charset: the encoding that the transport declares.
    package init(_ faults: Set<Fault>, charset: String? = nil) {
        self.faults = faults
        self.charset = charset
    }

    // MARK: - Reading

    /// Reads the next bytes, and passes on those that are known to be right.
    package func read(
        _ bytes: UnsafeRawBufferPointer, _ consume: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if passesAll { return try consume(bytes) }
        output.removeAll(keepingCapacity: true)
        if start != nil {
            start?.append(contentsOf: bytes)
            try begin(isWhole: false)
        } else {
            for byte in bytes { take(byte) }
        }
        if !output.isEmpty { try output.withUnsafeBytes(consume) }
    }

    /// Ends the document, and passes on the held bytes unchanged.
    package func finish(_ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        output.removeAll(keepingCapacity: true)
        try begin(isWhole: true)
        output += held
        held = []
        if !output.isEmpty { try output.withUnsafeBytes(consume) }
    }

    /// Reads the first bytes, once they show the encoding.
    private func begin(isWhole: Bool) throws {
        guard let bytes = start, let encoding = XMLEncodingName.find(in: bytes, isWhole: isWhole, charset: charset)
        else {
            return
        }
        start = nil
        switch encoding {
        case .utf8: isUTF8 = true
        case .asciiCompatible: isUTF8 = false
        case .other: passesAll = true
        }
        if passesAll { output += bytes } else { for byte in bytes { take(byte) } }
    }

    // MARK: - Bytes

    private func take(_ byte: UInt8) {
        if isReference { return takeReference(byte) }
        if isUTF8, !held.isEmpty, state != .opening { return takeCharacter(byte) }
        if byte < 0x20, byte != 0x09, byte != 0x0A, byte != 0x0D, faults.contains(.characters) {
            count(.characters)
            // A vertical tab or a form feed separates words.
            if byte == 0x0B || byte == 0x0C { move(0x20) }
            return
        }
        // These may begin a surrogate, or U+FFFE or U+FFFF.
        if isUTF8, byte == 0xED || byte == 0xEF, state != .opening, faults.contains(.characters) {
            held.append(byte)
            return
        }
        move(byte)
    }

    /// Takes a byte of a character of three bytes.
    private func takeCharacter(_ byte: UInt8) {
        guard byte & 0xC0 == 0x80 else {
            flush()
            return take(byte)
        }
        held.append(byte)
        guard held.count == 3 else { return }
        if held[0] == 0xED ? held[1] >= 0xA0 : held[1] == 0xBF && held[2] >= 0xBE {
            held = []
            count(.characters)
        } else {
            flush()
        }
    }

    private func flush() {
        let bytes = held
        held = []
        for byte in bytes { move(byte) }
    }

    private func count(_ fault: Fault) { counts[fault, default: 0] += 1 }

    private func write(_ text: StaticString) { text.withUTF8Buffer { output += $0 } }

    /// Takes a byte that XML allows.
    private func move(_ byte: UInt8) {
        switch state {
        case .text:
            switch byte {
            case UInt8(ascii: "<"):
                held.append(byte)
                state = .opening
            case UInt8(ascii: "&"): beginReference()
            default: output.append(byte)
            }
        case .opening: open(byte)
        case .tag:
            switch byte {
            case UInt8(ascii: ">"): state = .text
            case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .value(quote: byte)
            default: break
            }
            output.append(byte)
        case .value(let quote):
            switch byte {
            case UInt8(ascii: "&"): beginReference()
            case UInt8(ascii: "<") where faults.contains(.ampersands):
                count(.ampersands)
                write("&lt;")
            default:
                if byte == quote { state = .tag }
                output.append(byte)
            }
        case .section(let end):
            output.append(byte)
            matched = DeclarationScanner.matched(byte, after: matched, of: end)
            if matched == end.count { state = .text }
        case .declaration:
            output.append(byte)
            declaration.read(byte)
            if declaration.hasSubset { declaresEntities = true }
            if !declaration.isWithin { state = .text }
        }
    }
}

/// Decides what `<` and `&` are: markup, or characters that should have been written as references.
extension XMLRepair {
    /// The longest reference that is looked at, and the longest name of a tag.
    private static let (longestReference, longestName) = (40, 256)

    // MARK: - Tags

    /// Takes a byte after `<`, and decides which construct it opens.
    private func open(_ byte: UInt8) {
        let isName = held.count == 1 ? nil : held[1]
        switch (isName, byte) {
        case (nil, UInt8(ascii: "/")), (nil, UInt8(ascii: "!")), (nil, UInt8(ascii: "?")):
            held.append(byte)
        case (UInt8(ascii: "!"), _):
            held.append(byte)
            openSection()
        default:
            let first = isName == UInt8(ascii: "/") || isName == UInt8(ascii: "?") ? 2 : 1
            if held.count == first ? Self.beginsName(byte) : Self.isOfName(byte) {
                held.append(byte)
                // A longer name is the parser's affair.
                if held.count > Self.longestName { close(into: .tag) }
            } else if held.count > first, Self.endsName(byte, isInstruction: isName == UInt8(ascii: "?")) {
                let isInstruction = isName == UInt8(ascii: "?")
                close(into: isInstruction ? .section(end: Array("?>".utf8)) : .tag)
                move(byte)
            } else {
                refuse(byte)
            }
        }
    }

    private func openSection() {
        for (text, end) in [("<!--", "-->"), ("<![CDATA[", "]]>")] where held.elementsEqual(text.utf8) {
            return close(into: .section(end: Array(end.utf8)))
        }
        if held.elementsEqual("<!DOCTYPE".utf8) {
            declaration = DeclarationScanner()
            for byte in held { declaration.read(byte) }
            return close(into: .declaration)
        }
        let isBeginning = ["<!--", "<![CDATA[", "<!DOCTYPE"].contains { $0.utf8.starts(with: held) }
        guard !isBeginning, let last = held.popLast() else { return }
        refuse(last)
    }

    /// Passes on the held bytes, which open a construct.
    private func close(into next: State) {
        output += held
        held = []
        matched = 0
        state = next
    }

    /// Takes the held `<` as a character of the text, and continues after it.
    private func refuse(_ byte: UInt8) {
        let rest = held.dropFirst()
        held = []
        state = .text
        if faults.contains(.ampersands) {
            count(.ampersands)
            write("&lt;")
        } else {
            output.append(UInt8(ascii: "<"))
        }
        output += rest
        take(byte)
    }

    private static func beginsName(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return byte >= 0x80 || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":")
            || lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        beginsName(byte) || byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    private static func endsName(_ byte: UInt8, isInstruction: Bool) -> Bool {
        switch byte {
        case 0x09, 0x0A, 0x0D, 0x20: true
        case UInt8(ascii: "?"): isInstruction
        case UInt8(ascii: ">"), UInt8(ascii: "/"): !isInstruction
        default: false
        }
    }

    // MARK: - References

    private func beginReference() {
        held.append(UInt8(ascii: "&"))
        isReference = true
    }

    private func takeReference(_ byte: UInt8) {
        let isNumber = held.count == 1 && byte == UInt8(ascii: "#")
        if isNumber || byte != UInt8(ascii: ";") && Self.isOfName(byte) && held.count < Self.longestReference {
            held.append(byte)
            return
        }
        let name = held.dropFirst()
        held = []
        isReference = false
        guard byte == UInt8(ascii: ";"), let known = Self.meaning(of: name) else {
            // A name that only the document itself may know is left to the parser.
            let mayBeDeclared =
                declaresEntities && byte == UInt8(ascii: ";") && name.first.map(Self.beginsName) ?? false
            if faults.contains(.ampersands), !mayBeDeclared {
                count(.ampersands)
                write("&amp;")
            } else {
                output.append(UInt8(ascii: "&"))
            }
            // Any character may be in what is no reference.
            for byte in name { take(byte) }
            return take(byte)
        }
        switch known {
        case .forbidden where faults.contains(.characters): count(.characters)
        case .html(let codePoint) where faults.contains(.entities) && !declaresEntities:
            count(.entities)
            output += Array("&#\(codePoint);".utf8)
        default:
            output.append(UInt8(ascii: "&"))
            output += name
            output.append(byte)
        }
    }

    private enum Meaning {
        case known, forbidden
        case html(Int)
    }

    /// Returns the meaning of a reference; nil if neither XML nor HTML defines it.
    private static func meaning(of name: ArraySlice<UInt8>) -> Meaning? {
        guard name.first == UInt8(ascii: "#") else {
            for known in ["amp", "lt", "gt", "quot", "apos"] where name.elementsEqual(known.utf8) { return .known }
            // libxml2 has the named entities of HTML 4 (section 24).
            return htmlEntityLookup(String(decoding: name, as: UTF8.self)).map { .html(Int($0.pointee.value)) }
        }
        let isHexadecimal = name.dropFirst().first == UInt8(ascii: "x")
        let digits = String(decoding: name.dropFirst(isHexadecimal ? 2 : 1), as: UTF8.self)
        guard !digits.isEmpty, digits.allSatisfy({ isHexadecimal ? $0.isHexDigit : $0.isWholeNumber && $0.isASCII })
        else {
            return nil
        }
        switch Int(digits, radix: isHexadecimal ? 16 : 10) ?? .max {
        case 0x09, 0x0A, 0x0D, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: return .known
        default: return .forbidden
        }
    }
}

extension XMLRepair.Fault {
    /// The fault that probably caused an error of a document; nil if no repair mends it.
    package init?(of error: XMLStreamError) {
        let found: [(part: String, fault: XMLRepair.Fault)] = [
            ("does not begin a reference", .ampersands), ("EntityRef: expecting", .ampersands),
            ("StartTag: invalid element name", .ampersands), ("not defined", .entities),
            ("invalid Char value", .characters), ("invalid xmlChar value", .characters),
        ]
        guard [.notWellFormed, .entity].contains(error.code),
            let fault = found.first(where: { error.message.contains($0.part) })?.fault
        else { return nil }
        self = fault
    }
}
