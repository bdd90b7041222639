import Foundation

/// One text for all texts of one value.
enum CanonicalText {
    static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16)
        return digits.count == 1 ? "0" + digits : digits
    }

    static func boolean(_ text: String) -> String {
        switch text.lowercased() {
        case "t", "true", "yes", "on", "y", "1": "1"
        case "f", "false", "no", "off", "n", "0": "0"
        default: text
        }
    }

    static func unpadded(_ text: String) -> String {
        var bytes = text.utf8[...]
        while bytes.last == UInt8(ascii: " ") { bytes.removeLast() }
        return String(Substring(bytes))
    }

    static func uuid(_ text: String) -> String { text.lowercased().filter { !"-{}".contains($0) } }

    /// Objects with their names in order, and nothing between.
    static func json(_ text: String) -> String {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed]
        guard let value = try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed),
            let data = try? JSONSerialization.data(withJSONObject: value, options: options)
        else { return text }
        return String(decoding: data, as: UTF8.self)
    }

    /// All digits from the first to the last that is not 0, and the power of ten by which they are multiplied.
    static func decimal(_ text: String) -> String {
        var rest = text.utf8.filter { $0 != UInt8(ascii: " ") }[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        var digits: [UInt8] = []
        var power = 0
        var isFraction = false
        var hasDigits = false
        loop: while let byte = rest.first {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                hasDigits = true
                if !digits.isEmpty || byte != UInt8(ascii: "0") { digits.append(byte) }
                if isFraction { power -= 1 }
            case UInt8(ascii: ".") where !isFraction: isFraction = true
            default: break loop
            }
            rest.removeFirst()
        }
        if let byte = rest.first {
            guard byte | 0x20 == UInt8(ascii: "e"),
                let exponent = Int(String(decoding: rest.dropFirst(), as: UTF8.self))
            else { return word(text) }
            power += exponent
        }
        guard hasDigits else { return word(text) }
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            power += 1
        }
        guard !digits.isEmpty else { return "0" }
        return "\(isNegative ? "-" : "")\(String(decoding: digits, as: UTF8.self))e\(power)"
    }

    /// `NaN`, `Infinity` and `inf`.
    private static func word(_ text: String) -> String {
        let word = text.lowercased()
        return word.hasSuffix("infinity") ? String(word.dropLast("inity".count)) : word
    }
}
