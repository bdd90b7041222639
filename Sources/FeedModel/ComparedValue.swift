/// A value as a column compares it. Texts that are equal in the column have the same value.
package enum ComparedValue: Sendable, Hashable {
    case integer(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    /// The number that a column with numeric affinity stores for a text; nil if it stores the text.
    package init?(number text: String) {
        var digits = Substring(text).utf8
        while let first = digits.first, Self.isSpace(first) { digits.removeFirst() }
        while let last = digits.last, Self.isSpace(last) { digits.removeLast() }
        guard let isWhole = Self.isWholeNumber(digits) else { return nil }
        let number = String(Substring(digits))
        if isWhole, let integer = Int64(number) {
            self = .integer(integer)
            return
        }
        guard let real = Double(number) else { return nil }
        // A whole number is stored as an integer where that loses nothing.
        if let integer = Int64(exactly: real), integer > .min, integer < .max {
            self = .integer(integer)
        } else {
            self = .real(real)
        }
    }

    /// Returns true for the same bytes as C's `isspace`.
    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    /// Returns true for a number with neither a point nor an exponent; nil for a text that is not a number.
    private static func isWholeNumber(_ text: Substring.UTF8View) -> Bool? {
        var rest = text
        func skipSign() {
            if let first = rest.first, first == UInt8(ascii: "+") || first == UInt8(ascii: "-") { rest.removeFirst() }
        }
        func skipDigits() -> Bool {
            let count = rest.count
            rest = rest.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return rest.count < count
        }
        skipSign()
        var hasDigits = skipDigits()
        var isWhole = true
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            isWhole = false
            hasDigits = skipDigits() || hasDigits
        }
        guard hasDigits else { return nil }
        if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
            rest.removeFirst()
            isWhole = false
            skipSign()
            guard skipDigits() else { return nil }
        }
        return rest.isEmpty ? isWhole : nil
    }
}
