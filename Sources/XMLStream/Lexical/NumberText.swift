/// The parts of a decimal number: digits with an optional sign and decimal point, and an optional exponent.
package struct NumberText {
    package typealias Digits = Slice<UnsafeBufferPointer<UInt8>>

    package let sign: UInt8?
    /// The digits before the point.
    package let whole: Digits
    /// The digits after the point; nil without a point.
    package private(set) var fraction: Digits?
    package private(set) var hasExponent = false

    /// Returns nil for a text that is no such number.
    package init?(_ text: UnsafeBufferPointer<UInt8>) {
        var rest = text[...]
        sign = Self.takeSign(&rest)
        whole = Self.takeDigits(&rest)
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            fraction = Self.takeDigits(&rest)
        }
        guard whole.count + (fraction?.count ?? 0) > 0 else { return nil }
        if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            _ = Self.takeSign(&rest)
            guard !Self.takeDigits(&rest).isEmpty else { return nil }
            hasExponent = true
        }
        guard rest.isEmpty else { return nil }
    }

    private static func takeSign(_ rest: inout Digits) -> UInt8? {
        guard let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") else { return nil }
        return rest.removeFirst()
    }

    private static func takeDigits(_ rest: inout Digits) -> Digits {
        let digits = rest.prefix { $0 &- UInt8(ascii: "0") < 10 }
        rest = rest.dropFirst(digits.count)
        return digits
    }

    /// The number of digits before an exponent, without zeros at the start.
    package var significantDigits: Int {
        let whole = whole.drop { $0 == UInt8(ascii: "0") }
        guard whole.isEmpty else { return whole.count + (fraction?.count ?? 0) }
        return fraction?.drop { $0 == UInt8(ascii: "0") }.count ?? 0
    }

    /// True for a number as JSON writes it (RFC 8259, section 6): unlike XML Schema's, it has a digit on each side of the
    /// point, no plus before it, and no zero before other digits.
    package var isPlain: Bool {
        guard sign != UInt8(ascii: "+"), let first = whole.first, fraction?.isEmpty != true else { return false }
        return whole.count == 1 || first != UInt8(ascii: "0")
    }
}
