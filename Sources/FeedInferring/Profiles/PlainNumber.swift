/// The numbers of digits after the point in the values of a column.
struct DecimalPlaces {
    /// The most digits after the point in amounts without trailing zeros: `4.15` beside `3.0`. Measurements have more.
    private static let longest = 6

    private var least = Int.max
    private(set) var most = 0

    /// - Parameter digits: nil for a value without a point.
    mutating func add(_ digits: Int?) {
        least = min(least, digits ?? 0)
        most = max(most, digits ?? 0)
    }

    mutating func merge(_ other: DecimalPlaces) {
        least = min(least, other.least)
        most = max(most, other.most)
    }

    /// True where all values have the same number of digits, or none has more than an amount.
    var areDecimal: Bool { least >= most || most <= Self.longest }
}

/// A number in ASCII as feeds write quantities and prices: `-12`, `9.90`, `1.5e-7`.
///
/// A text that a number would not give back as it was written does not count: `007`, `+5`. A product number or postcode
/// must keep its zeros.
struct PlainNumber {
    /// The number of digits before an exponent, without zeros at the start.
    private(set) var significantDigits = 0
    /// The number of digits after the point; nil without a point.
    private(set) var decimals: Int?
    private(set) var hasExponent = false
    /// True where the digits before the point may be the first group of several.
    private var mayBeGrouped = false

    init?(_ text: UnsafeBufferPointer<UInt8>) {
        var rest = text[...]
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        let whole = Self.takeDigits(&rest)
        guard let first = whole.first, whole.count == 1 || first != UInt8(ascii: "0") else { return nil }
        let isBelowOne = first == UInt8(ascii: "0")
        mayBeGrouped = whole.count <= 3 && !isBelowOne
        significantDigits = isBelowOne ? 0 : whole.count
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            let fraction = Self.takeDigits(&rest)
            guard !fraction.isEmpty else { return nil }
            decimals = fraction.count
            significantDigits += isBelowOne ? fraction.drop { $0 == UInt8(ascii: "0") }.count : fraction.count
        }
        if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
            guard !Self.takeDigits(&rest).isEmpty else { return nil }
            hasExponent = true
        }
        guard rest.isEmpty else { return nil }
    }

    /// The notations in which the text is a number, too: `1.234` may have a fraction, or a mark between groups.
    var styles: NumberStyles {
        guard !hasExponent else { return [] }
        guard let decimals else { return .all }
        return mayBeGrouped && decimals == 3
            ? NumberStyles.point.union(NumberStyles(decimal: nil, group: UInt8(ascii: "."))) : .point
    }

    private static func takeDigits(_ rest: inout Slice<UnsafeBufferPointer<UInt8>>) -> Slice<UnsafeBufferPointer<UInt8>>
    {
        let digits = rest.prefix { $0 &- UInt8(ascii: "0") < 10 }
        rest = rest.dropFirst(digits.count)
        return digits
    }
}
