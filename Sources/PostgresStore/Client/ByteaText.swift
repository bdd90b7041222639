/// The two text forms of `bytea`: `\x6869`, and `hi\000` where a role or a database still asks for the older one.
enum ByteaText {
    static func decoded(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        text.starts(with: [backslash, UInt8(ascii: "x")]) ? hex(text.dropFirst(2)) : escaped(text)
    }

    private static let backslash = UInt8(ascii: "\\")

    private static func hex(_ digits: Slice<UnsafeRawBufferPointer>) -> [UInt8]? {
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digits.count / 2)
        for index in stride(from: digits.startIndex, to: digits.endIndex, by: 2) {
            guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }

    private static func escaped(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
        var bytes: [UInt8] = []
        var index = 0
        while index < text.count {
            guard text[index] == backslash else {
                bytes.append(text[index])
                index += 1
                continue
            }
            if index + 1 < text.count, text[index + 1] == backslash {
                bytes.append(backslash)
                index += 2
                continue
            }
            guard index + 3 < text.count else { return nil }
            var value: UInt16 = 0
            for digit in text[index + 1...index + 3] {
                guard (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(digit) else { return nil }
                value = value << 3 | UInt16(digit - UInt8(ascii: "0"))
            }
            guard let byte = UInt8(exactly: value) else { return nil }
            bytes.append(byte)
            index += 4
        }
        return bytes
    }
}
