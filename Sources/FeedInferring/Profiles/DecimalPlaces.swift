import XMLStream

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

/// Columns of numbers have plain ones only. A product number or postcode must keep its zeros: `007` is text.
extension NumberText {
    /// The number of digits after the point; nil without a point.
    var decimals: Int? { fraction?.count }

    /// The notations in which a plain number is one, too: `1.234` may have a fraction, or a mark between groups.
    var styles: NumberStyles {
        guard !hasExponent else { return [] }
        guard let decimals else { return .all }
        let mayBeGrouped = whole.count <= 3 && whole.first != UInt8(ascii: "0")
        return mayBeGrouped && decimals == 3
            ? NumberStyles.point.union(NumberStyles(decimal: nil, group: UInt8(ascii: "."))) : .point
    }
}
