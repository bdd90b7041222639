/// A set of Unicode scalars in a pattern: `[a-z]`, `\d`, a letter of either case.
struct ScalarSet {
    enum Class: Equatable {
        case digit, word, space

        func contains(_ scalar: Unicode.Scalar) -> Bool {
            let properties = scalar.properties
            switch self {
            case .digit: return properties.generalCategory == .decimalNumber
            case .space: return properties.isWhitespace
            case .word:
                if scalar == "_" || properties.isAlphabetic { return true }
                switch properties.generalCategory {
                case .decimalNumber, .nonspacingMark, .spacingMark, .enclosingMark, .connectorPunctuation: return true
                default: return false
                }
            }
        }
    }

    /// In order and without overlaps, once the set is complete.
    private var ranges: [ClosedRange<UInt32>] = []
    private var classes: [(kind: Class, isNegated: Bool)] = []
    var isNegated = false
    /// True if upper and lower case are the same.
    var foldsCase = false
    /// The members in ASCII, the most frequent characters.
    private(set) var ascii: (low: UInt64, high: UInt64) = (0, 0)

    mutating func insert(_ range: ClosedRange<UInt32>) { ranges.append(range) }

    mutating func insert(_ kind: Class, isNegated: Bool = false) {
        guard !classes.contains(where: { $0 == (kind, isNegated) }) else { return }
        classes.append((kind, isNegated))
    }

    /// Brings the ranges into order, and computes the answers for ASCII. Called once the set is complete.
    mutating func finish() {
        ranges = ranges.sorted { $0.lowerBound < $1.lowerBound }.reduce(into: []) { joined, range in
            guard let last = joined.last, range.lowerBound <= last.upperBound else { return joined.append(range) }
            joined[joined.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
        }
        for value in 0..<UInt32(128) where search(value) {
            if value < 64 { ascii.low |= 1 << UInt64(value) } else { ascii.high |= 1 << UInt64(value - 64) }
        }
    }

    @inline(__always)
    func contains(_ value: UInt32) -> Bool {
        if value < 64 { return ascii.low >> UInt64(value) & 1 == 1 }
        if value < 128 { return ascii.high >> UInt64(value - 64) & 1 == 1 }
        return search(value)
    }

    private func search(_ value: UInt32) -> Bool {
        guard let scalar = Unicode.Scalar(value) else { return isNegated }
        var isIn = holds(scalar)
        if !isIn, foldsCase {
            for other in [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping] {
                if let other = other.unicodeScalars.first, other != scalar, holds(other) { isIn = true }
            }
        }
        return isIn != isNegated
    }

    private func holds(_ scalar: Unicode.Scalar) -> Bool {
        isInRange(scalar.value) || classes.contains { $0.kind.contains(scalar) != $0.isNegated }
    }

    private func isInRange(_ value: UInt32) -> Bool {
        // The first range that does not end before the value.
        var places = ranges.startIndex..<ranges.endIndex
        while !places.isEmpty {
            let middle = (places.lowerBound + places.upperBound) / 2
            if ranges[middle].upperBound < value {
                places = middle + 1..<places.upperBound
            } else {
                places = places.lowerBound..<middle
            }
        }
        return places.lowerBound < ranges.endIndex && ranges[places.lowerBound].contains(value)
    }
}
