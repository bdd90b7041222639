/// Decides what `<` and `&` are: markup, or characters that should have been written as references.
extension XMLRepair {
    /// The longest reference that is looked at, and the longest name of a tag.
    private static let (longestReference, longestName) = (40, 256)

    // MARK: - Tags

    /// Takes a byte after `<`, and decides which construct it opens.
    func open(_ byte: UInt8) {
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

    func beginReference() {
        held.append(UInt8(ascii: "&"))
        isReference = true
    }

    func takeReference(_ byte: UInt8) {
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
            return HTMLEntities.codePoint(name).map { .html($0) }
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
