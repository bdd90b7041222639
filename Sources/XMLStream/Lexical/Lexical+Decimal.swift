/// The digits of a decimal: an integer that does not end in a zero, times a power of ten.
private struct DecimalDigits: Equatable {
    var digits: UInt64 = 0
    var count = 0
    var exponent = 0

    /// Returns nil if there are more than 19 digits.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        // Zeros that count only if another digit follows.
        var zeros = 0
        var isFraction = false
        for byte in text {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else {
                if byte == UInt8(ascii: ".") { isFraction = true }
                continue
            }
            if isFraction { exponent -= 1 }
            if digit == 0 {
                if count > 0 { zeros += 1 }
                continue
            }
            count += zeros + 1
            guard count <= 19 else { return nil }
            // Nineteen digits are less than 2^64.
            for _ in 0...zeros { digits *= 10 }
            digits += UInt64(digit)
            zeros = 0
        }
        exponent += zeros
    }

    /// Returns the decimal as a 64-bit integer; nil if it is not one.
    func integer(isNegative: Bool) -> Int64? {
        guard exponent >= 0, exponent < 19 else { return nil }
        var value = digits
        for _ in 0..<exponent {
            let (product, overflows) = value.multipliedReportingOverflow(by: 10)
            if overflows { return nil }
            value = product
        }
        if isNegative, value == UInt64(Int64.max) + 1 { return .min }
        return Int64(exactly: value).map { isNegative ? -$0 : $0 }
    }
}

extension Lexical {
    /// A number with the value of exactly one decimal.
    package enum ExactNumber: Equatable {
        case integer(Int64)
        case real(Double)
    }

    /// The most digits with which every decimal has a binary double of its own (DBL_DIG).
    private static let digitsOfDouble = 15
    /// The number of digits that distinguish all doubles (DBL_DECIMAL_DIG).
    private static let digitsBetweenDoubles = 17

    /// Returns the number for a decimal. Written again, it has the same digits except for zeros at the ends. Nil if
    /// the decimal has more digits than a 64-bit integer or a double keeps.
    ///
    /// - Parameter text: a decimal that ``isDecimal(_:exponent:)`` accepts, without an exponent.
    package static func exactNumber(_ text: UnsafeBufferPointer<UInt8>) -> ExactNumber? {
        guard let digits = DecimalDigits(text) else { return nil }
        guard digits.count > 0 else { return .integer(0) }
        if let integer = digits.integer(isNegative: text.first == UInt8(ascii: "-")) { return .integer(integer) }
        guard digits.count <= digitsBetweenDoubles, let number = double(text), number.isFinite else { return nil }
        if digits.count <= digitsOfDouble { return number.magnitude >= .leastNormalMagnitude ? .real(number) : nil }
        var shortest = plainText(number)
        return shortest.withUTF8 { DecimalDigits($0) } == digits ? .real(number) : nil
    }

    /// Writes a finite number with the fewest digits from which it can be read again, without an exponent.
    package static func plainText(_ number: Double) -> String {
        let text = "\(number)"
        let parts = text.split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]) else {
            return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
        }
        let isNegative = parts[0].hasPrefix("-")
        let numbers = parts[0].drop { $0 == "-" }.split(separator: ".")
        var digits = numbers.joined()
        var point = (numbers.first?.count ?? 0) + exponent
        if numbers.count == 2, numbers[1] == "0" { digits.removeLast() }
        if point <= 0 {
            digits = String(repeating: "0", count: 1 - point) + digits
            point = 1
        }
        if digits.count < point { digits += String(repeating: "0", count: point - digits.count) }
        let whole = digits.prefix(point)
        let fraction = digits.dropFirst(point)
        return (isNegative ? "-" : "") + whole + (fraction.isEmpty ? "" : "." + fraction)
    }
}
