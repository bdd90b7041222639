/// The separators in a feed's numbers: before the fraction, and between groups of digits.
package struct NumberSeparators: Sendable, Hashable {
    var decimal: UInt8 = UInt8(ascii: ".")
    /// The spellings of the group separator; empty if digits are not grouped.
    var group: [[UInt8]] = []

    /// - Parameters:
    ///   - decimal: one ASCII character; nil for a point, or a comma where points are between groups.
    ///   - group: one character; a space stands for the no-break spaces, too (U+00A0, U+202F).
    package init?(decimal: String?, group: String?) {
        if let decimal {
            guard decimal.utf8.count == 1, let byte = decimal.utf8.first, Self.maySeparate(byte) else { return nil }
            self.decimal = byte
        }
        guard let group else { return }
        if decimal == nil, group == "." { self.decimal = UInt8(ascii: ",") }
        guard group.count == 1, let first = group.utf8.first, first >= 0x80 || Self.maySeparate(first),
            group.utf8.count > 1 || first != self.decimal
        else { return nil }
        self.group = (group == " " ? [" ", "\u{A0}", "\u{202F}"] : [group]).map { Array($0.utf8) }
    }

    private static func maySeparate(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "-") && byte != UInt8(ascii: "+")
            && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) && byte | 0x20 != UInt8(ascii: "e")
    }

    /// Returns the number with a point before its fraction and nothing between its digits; nil if the groups are
    /// invalid. The last group has three digits, those before it two or three (as in India), and the first up to
    /// three.
    package func plain(_ number: UnsafeBufferPointer<UInt8>) -> [UInt8]? {
        var plain: [UInt8] = []
        plain.reserveCapacity(number.count)
        var index = 0
        // The number of digits in the current group; nil before the first separator.
        var groupDigits: Int?
        var digits = 0
        func mayEnd(_ count: Int?) -> Bool { count == nil || count == 3 }
        while index < number.count {
            let byte = number[index]
            if byte == decimal {
                guard mayEnd(groupDigits) else { return nil }
                plain.append(UInt8(ascii: "."))
                plain += number[(index + 1)...]
                // A fraction has no further point, and no groups.
                let fraction = number[(index + 1)...]
                return fraction.contains(UInt8(ascii: ".")) ? nil : plain
            }
            if let separator = group.first(where: { number[index...].starts(with: $0) }) {
                guard digits > 0, groupDigits.map({ (2...3).contains($0) }) ?? (digits <= 3) else { return nil }
                groupDigits = 0
                index += separator.count
                continue
            }
            if byte == UInt8(ascii: ".") { return nil }
            if byte &- UInt8(ascii: "0") < 10 {
                digits += 1
                groupDigits = groupDigits.map { $0 + 1 }
            }
            plain.append(byte)
            index += 1
        }
        return mayEnd(groupDigits) ? plain : nil
    }

    /// Returns the number as the feed writes it, with the separator before the fraction. Groups are left out, as they
    /// are no part of a number.
    package func written(_ number: String) -> String {
        String(decoding: number.utf8.map { $0 == UInt8(ascii: ".") ? decimal : $0 }, as: UTF8.self)
    }
}
