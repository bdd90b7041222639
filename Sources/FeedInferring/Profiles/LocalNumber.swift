/// The ways in which numbers are written other than with a point and nothing else: a mark before the fraction, and one
/// between groups of three digits.
struct NumberStyles: OptionSet {
    let rawValue: UInt8

    /// Each style by its bit, with the mark before the fraction and the one between groups.
    private static let marks: [(decimal: UInt8, group: UInt8)] = [
        (UInt8(ascii: ","), UInt8(ascii: ".")), (UInt8(ascii: ","), UInt8(ascii: " ")),
        (UInt8(ascii: ","), UInt8(ascii: "'")), (UInt8(ascii: "."), UInt8(ascii: ",")),
        (UInt8(ascii: "."), UInt8(ascii: " ")), (UInt8(ascii: "."), UInt8(ascii: "'")),
    ]

    static let comma = NumberStyles(rawValue: 0b000_111)
    static let point = NumberStyles(rawValue: 0b111_000)
    static let all: NumberStyles = [.comma, .point]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The styles with these marks.
    ///
    /// - Parameters:
    ///   - decimal: the mark before the fraction; nil for any.
    ///   - group: the mark between groups; nil for any.
    init(decimal: UInt8?, group: UInt8?) {
        let bits = Self.marks.enumerated().filter {
            (decimal == nil || $0.element.decimal == decimal) && (group == nil || $0.element.group == group)
        }
        rawValue = bits.reduce(0) { $0 | 1 << UInt8($1.offset) }
    }

    /// True for numbers that may have either mark before a fraction.
    var isAmbiguous: Bool { !isDisjoint(with: .comma) && !isDisjoint(with: .point) }

    /// The mark between groups, where only one is possible: values without groups leave all possible.
    var group: Character? {
        guard rawValue.nonzeroBitCount == 1 else { return nil }
        return Character(Unicode.Scalar(Self.marks[rawValue.trailingZeroBitCount].group))
    }
}

/// A number with a comma before its fraction, or with marks between groups of digits: `16,95`, `1.234,50`, `1 234`.
struct LocalNumber {
    /// The styles in which the text is a number; in different ones it may be different numbers: `1,234`.
    private(set) var styles: NumberStyles = []
    /// The mark before the fraction, and its number of digits, where the last mark may be one.
    private var fraction: (mark: UInt8, digits: Int)?

    /// - Returns: nil for a text that is no such number, or would have more digits than a double holds.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        guard let (marks, runs) = Self.parts(text), let last = marks.last, runs.reduce(0, +) <= 15 else { return nil }
        let first = text[text.first == UInt8(ascii: "-") ? 1 : 0]
        let isGrouped = first != UInt8(ascii: "0") && runs[0] <= 3
        let inner = marks.dropLast()
        let hasGroups = isGrouped && Set(inner).count == 1 && runs[1..<(runs.count - 1)].allSatisfy { $0 == 3 }
        let isWhole = first != UInt8(ascii: "0") || runs[0] == 1
        if inner.isEmpty ? isWhole : hasGroups && inner.first != last {
            styles.formUnion(NumberStyles(decimal: last, group: inner.first))
            if !styles.isEmpty { fraction = (last, runs[runs.count - 1]) }
        }
        if isGrouped, Set(marks).count == 1, runs.dropFirst().allSatisfy({ $0 == 3 }) {
            styles.formUnion(NumberStyles(decimal: nil, group: last))
        }
        if styles.isEmpty { return nil }
    }

    /// Returns the number of digits after this mark, if it is the one before a fraction.
    func decimals(after mark: UInt8) -> Int? { fraction.flatMap { $0.mark == mark ? $0.digits : nil } }

    /// Returns the marks of a text, a space for a no-break space, and the numbers of digits around them.
    private static func parts(_ text: UnsafeBufferPointer<UInt8>) -> (marks: [UInt8], runs: [Int])? {
        guard text.count <= 32 else { return nil }
        var marks: [UInt8] = []
        var runs = [0]
        var rest = text[...]
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                runs[runs.count - 1] += 1
                continue
            case UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: " "), UInt8(ascii: "'"): marks.append(byte)
            // U+00A0 and U+202F.
            case 0xC2 where rest.first == 0xA0:
                rest.removeFirst()
                marks.append(UInt8(ascii: " "))
            case 0xE2 where rest.starts(with: [0x80, 0xAF]):
                rest.removeFirst(2)
                marks.append(UInt8(ascii: " "))
            default: return nil
            }
            runs.append(0)
        }
        return marks.isEmpty || runs.contains(0) ? nil : (marks, runs)
    }
}
