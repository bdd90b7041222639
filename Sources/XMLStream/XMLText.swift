import Foundation

/// Converts values to the text of elements and attributes, the reverse of ``XMLConvertible``.
package enum XMLText {
    /// - Returns: nil for a value that encodes itself.
    package static func text<Value>(of value: Value, dateFormat: DateFormat?) -> String? {
        switch value {
        case let value as String: value
        case let value as any (FixedWidthInteger & XMLConvertible): String(describing: value)
        case let value as Bool: value ? "true" : "false"
        case let value as Double: number(value)
        case let value as Float: number(value)
        case let value as Decimal: value.description
        case let value as Date: dateFormat?.text(value) ?? Lexical.iso8601(value)
        case let value as Data: value.base64EncodedString()
        case let value as URL: value.absoluteString
        default: nil
        }
    }

    /// Writes infinities and NaN as XML Schema does (part 2, section 3.3.5.1).
    package static func number<Number: BinaryFloatingPoint & CustomStringConvertible>(_ number: Number) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-INF" : "INF" }
        return number.description
    }

    /// Returns the first character that XML 1.0 has no way to write (section 2.2, production 2).
    package static func forbidden(in text: String) -> Unicode.Scalar? {
        text.unicodeScalars.first {
            ($0.value < 0x20 && $0 != "\t" && $0 != "\n" && $0 != "\r") || $0.value == 0xFFFE || $0.value == 0xFFFF
        }
    }

    /// Returns text in UTF-8 with U+FFFD in place of each character that XML has no way to write.
    package static func replacingForbidden(in text: UnsafeBufferPointer<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(text.count)
        for (index, byte) in text.enumerated() {
            switch byte {
            case 0x09, 0x0A, 0x0D, 0x20..<0x80: result.append(byte)
            case ..<0x20: result += [0xEF, 0xBF, 0xBD]
            default:
                // U+FFFE and U+FFFF.
                let isForbidden =
                    byte & 0xFE == 0xBE && index >= 2 && text[index - 2] == 0xEF && text[index - 1] == 0xBF
                result.append(isForbidden ? 0xBD : byte)
            }
        }
        return result
    }

    /// Returns a character's code point as Unicode writes it: `U+0001`.
    package static func code(of character: Unicode.Scalar) -> String {
        let code = String(character.value, radix: 16, uppercase: true)
        return "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
    }

    /// Returns text as content of an element or of an attribute; nil if XML has no way to write it.
    package static func escaped(_ text: String) -> String? {
        guard forbidden(in: text) == nil else { return nil }
        var writer = XMLWriter()
        writer.attribute("", text.utf8)
        // Only the part between the quotes. `]]>` must not arise in an element.
        return String(decoding: writer.bytes.dropFirst(3).dropLast(), as: UTF8.self)
            .replacingOccurrences(of: ">", with: "&gt;")
    }

    /// Returns true for the name of an element or attribute, prefixed or not (Namespaces in XML, production 7).
    package static func isName(_ text: String) -> Bool {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        return parts.count <= 2
            && parts.allSatisfy { part in
                part.unicodeScalars.first.map(XMLName.mayBegin) == true
                    && part.unicodeScalars.allSatisfy(XMLName.mayHold)
            }
    }
}
