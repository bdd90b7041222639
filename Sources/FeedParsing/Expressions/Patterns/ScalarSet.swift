/// A set of Unicode scalars in a pattern: `[a-z]`, `\d`, a letter of either case.
struct ScalarSet {
    enum Class {
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

    private var ranges: [ClosedRange<UInt32>] = []
    private var classes: [(kind: Class, isNegated: Bool)] = []
    var isNegated = false
    /// True where upper and lower case are the same.
    var foldsCase = false
    /// The answers for ASCII, which are most of those asked for.
    private(set) var ascii: (low: UInt64, high: UInt64) = (0, 0)

    mutating func insert(_ range: ClosedRange<UInt32>) { ranges.append(range) }

    mutating func insert(_ kind: Class, isNegated: Bool = false) { classes.append((kind, isNegated)) }

    /// Computes the answers for ASCII. Called once the set is complete.
    mutating func finish() {
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
        ranges.contains { $0.contains(scalar.value) }
            || classes.contains { $0.kind.contains(scalar) != $0.isNegated }
    }
}
