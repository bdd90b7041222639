package import Foundation

/// Converts the text of elements and attributes to values: the lexical forms of XML Schema (part 2) and the dates
/// found in feeds. Each function takes trimmed UTF-8 and returns nil if the text is not of its form.
package enum Lexical {
    /// Reads an optional sign and decimal digits; nil if the value does not fit.
    package static func int(_ text: UnsafeBufferPointer<UInt8>) -> Int? { integer(text, as: Int.self) }

    /// Reads an optional sign and decimal digits; nil if the value does not fit.
    @inlinable
    package static func integer<Integer: FixedWidthInteger>(
        _ text: UnsafeBufferPointer<UInt8>, as type: Integer.Type = Integer.self
    ) -> Integer? {
        var index = 0
        var negative = false
        if let sign = text.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            negative = sign == UInt8(ascii: "-")
            index = 1
        }
        guard index < text.count else { return nil }
        var value: Integer = 0
        while index < text.count {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            let (scaled, overflowed) = value.multipliedReportingOverflow(by: 10)
            guard !overflowed, let addend = Integer(exactly: digit) else { return nil }
            let (sum, tooLarge) =
                negative ? scaled.subtractingReportingOverflow(addend) : scaled.addingReportingOverflow(addend)
            guard !tooLarge else { return nil }
            value = sum
            index += 1
        }
        return value
    }

    /// Reads a decimal number with an optional exponent, or `INF`, `-INF`, `NaN`.
    package static func double(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        if let exact = shortDouble(text) { return exact }
        guard isDecimal(text, exponent: true) else {
            switch String(decoding: text, as: UTF8.self) {
            case "INF", "+INF": return .infinity
            case "-INF": return -.infinity
            case "NaN": return .nan
            default: return nil
            }
        }
        return Double(String(decoding: text, as: UTF8.self))
    }

    /// Reads an exact decimal number of up to 38 digits.
    package static func decimal(_ text: UnsafeBufferPointer<UInt8>) -> Decimal? {
        guard isDecimal(text, exponent: false) else { return nil }
        return Decimal(string: String(decoding: text, as: UTF8.self), locale: Locale(identifier: "en_US_POSIX"))
    }

    /// Reads `true`, `1`, `yes` or `false`, `0`, `no`, in any case.
    package static func boolean(_ text: UnsafeBufferPointer<UInt8>) -> Bool? {
        guard text.count <= 5 else { return nil }
        switch String(decoding: text, as: UTF8.self).lowercased() {
        case "true", "1", "yes": return true
        case "false", "0", "no": return false
        default: return nil
        }
    }

    /// Reads base 64 (RFC 4648). White space is allowed between its characters.
    package static func base64(_ text: UnsafeBufferPointer<UInt8>) -> Data? {
        Data(base64Encoded: Data(text.lazy.filter { !isXMLSpace($0) }))
    }

    /// Reads pairs of hexadecimal digits. White space is allowed between them.
    package static func hexadecimal(_ text: UnsafeBufferPointer<UInt8>) -> Data? {
        var data = Data()
        var high: UInt8?
        for byte in text where !isXMLSpace(byte) {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            if let first = high {
                data.append(first << 4 | UInt8(digit))
                high = nil
            } else {
                high = UInt8(digit)
            }
        }
        return high == nil ? data : nil
    }

    /// Reads at most 15 digits and 22 decimal places. The quotient of two exactly represented numbers is correctly
    /// rounded (Clinger, "How to read floating point numbers accurately", 1990).
    private static func shortDouble(_ text: UnsafeBufferPointer<UInt8>) -> Double? {
        guard !text.isEmpty, text.count <= 17 else { return nil }
        var mantissa = 0
        var digits = 0
        var places = -1
        var index = 0
        let negative = text[0] == UInt8(ascii: "-")
        if negative || text[0] == UInt8(ascii: "+") { index = 1 }
        while index < text.count {
            let byte = text[index]
            let digit = byte &- UInt8(ascii: "0")
            if digit < 10 {
                mantissa = mantissa * 10 + Int(digit)
                digits += 1
                if places >= 0 { places += 1 }
            } else if byte == UInt8(ascii: "."), places < 0 {
                places = 0
            } else {
                return nil
            }
            index += 1
        }
        guard digits > 0, digits <= 15 else { return nil }
        let magnitude = places > 0 ? Double(mantissa) / powersOfTen[places] : Double(mantissa)
        return negative ? -magnitude : magnitude
    }

    private static let powersOfTen: [Double] = [
        1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    /// Returns true for digits with an optional sign and decimal point, and an exponent where one is allowed.
    package static func isDecimal(_ text: UnsafeBufferPointer<UInt8>, exponent: Bool) -> Bool {
        NumberText(text).map { exponent || !$0.hasExponent } ?? false
    }
}

/// White space as XML 1.0 defines it (section 2.3, production 3).
@inline(__always)
package func isXMLSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
}

/// Returns the bytes without white space at either end.
@inline(__always)
package func trimmed(_ bytes: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
    var start = 0
    var end = bytes.count
    while start < end, isXMLSpace(bytes[start]) { start += 1 }
    while end > start, isXMLSpace(bytes[end - 1]) { end -= 1 }
    return UnsafeBufferPointer(rebasing: bytes[start..<end])
}
