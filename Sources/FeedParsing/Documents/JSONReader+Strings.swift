import XMLStream

/// Strings, which are names of members or values (RFC 8259, section 7): their characters, and their escapes.
extension JSONReader {
    /// True if a byte of a string is a whole character without a special meaning.
    static func isPlain(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x80 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }

    func takeString(_ byte: UInt8, _ isName: Bool) throws {
        if !character.isEmpty { return try takeContinuation(byte, isName) }
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
        case 0xC2...0xF4:
            character.append(byte)
        case 0x80...:
            throw notUTF8
        default:
            try take(Unicode.Scalar(byte), isName)
        }
    }

    /// Takes a further byte of a character in UTF-8, if it may follow there (The Unicode Standard, table 3-7).
    private func takeContinuation(_ byte: UInt8, _ isName: Bool) throws {
        let allowed: ClosedRange<UInt8> =
            switch (character.count, character[0]) {
            case (1, 0xE0): 0xA0...0xBF
            case (1, 0xED): 0x80...0x9F
            case (1, 0xF0): 0x90...0xBF
            case (1, 0xF4): 0x80...0x8F
            default: 0x80...0xBF
            }
        guard allowed.contains(byte) else { throw notUTF8 }
        character.append(byte)
        let length = character[0] < 0xE0 ? 2 : character[0] < 0xF0 ? 3 : 4
        guard character.count == length else { return }
        defer { character.removeAll(keepingCapacity: true) }
        let isNone = character == [0xEF, 0xBF, 0xBE] || character == [0xEF, 0xBF, 0xBF]
        try (isNone ? Self.replacement : character).withUnsafeBufferPointer { try takeText($0, isName) }
    }

    func takeText(_ text: UnsafeBufferPointer<UInt8>, _ isName: Bool) throws {
        try endSurrogate(isName)
        guard isName else { return try emit(text) }
        token.append(contentsOf: text)
        guard token.count <= Self.tokenLimit else {
            throw problem("a name is longer than \(Self.tokenLimit) bytes")
        }
    }

    private func take(_ scalar: Unicode.Scalar?, _ isName: Bool) throws {
        let isCharacter =
            switch scalar?.value ?? 0 {
            case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...: true
            default: false
            }
        let bytes = isCharacter ? scalar.map { Array(String(Character($0)).utf8) } : nil
        try (bytes ?? Self.replacement).withUnsafeBufferPointer { try takeText($0, isName) }
    }

    private static let replacement = Array("\u{FFFD}".utf8)

    func takeEscape(_ byte: UInt8, _ isName: Bool) throws {
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

    func takeUnicode(_ byte: UInt8, _ isName: Bool, _ digits: Int, _ value: UInt32) throws {
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
        if let name = known[token] { return name }
        let name = try stream.elementName(ElementNaming.name(String(decoding: token, as: UTF8.self)), written: token)
        // Names that are data are many, and each occurs once.
        if known.count >= 10_000 { known = [:] }
        known[token] = name
        return name
    }

    private var notUTF8: DocumentError {
        problem("a string is not valid UTF-8, which JSON is in (RFC 8259, section 8.1)")
    }
}
