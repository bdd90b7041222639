import FeedModel

/// A value without quotes: a number, a date, `true` or `false`.
enum TOMLWord {
    static func value(_ word: ArraySlice<UInt8>) throws(Finding) -> TOMLValue {
        if let last = word.last, last >= UInt8(ascii: "a"), let value = named(word) { return value }
        if TOMLDate.isMeant(by: word) {
            guard let date = TOMLDate.text(word) else {
                throw Finding("is not a date or time", help: "write 1979-05-27, 07:32:00 or 1979-05-27T07:32:00Z")
            }
            return .date(date)
        }
        return try number(word)
    }

    private static func named(_ word: ArraySlice<UInt8>) -> TOMLValue? {
        switch String(decoding: word, as: UTF8.self) {
        case "true": .boolean(true)
        case "false": .boolean(false)
        case "inf", "+inf": .float(.infinity)
        case "-inf": .float(-.infinity)
        case "nan", "+nan", "-nan": .float(.nan)
        default: nil
        }
    }

    private static func number(_ word: ArraySlice<UInt8>) throws(Finding) -> TOMLValue {
        guard let digits = withoutUnderscores(word) else {
            throw Finding("has a '_' that does not stand between digits")
        }
        var rest = digits[...]
        let isSigned = rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+")
        if isSigned { rest = rest.dropFirst() }
        if !isSigned, rest.first == UInt8(ascii: "0"), rest.count > 2,
            let radix = [UInt8(ascii: "x"): 16, UInt8(ascii: "o"): 8, UInt8(ascii: "b"): 2][digits[1]]
        {
            return try integer(rest.dropFirst(2), radix: radix, in: digits)
        }
        let whole = rest.prefix(while: isDigit)
        guard !whole.isEmpty else {
            throw Finding("is not a value", help: "a text is written in quotes: \"…\"")
        }
        guard whole.count == 1 || whole.first != UInt8(ascii: "0") else {
            throw Finding("begins with a zero, which no number does", help: "a text is written in quotes: \"…\"")
        }
        if whole.endIndex == digits.endIndex {
            return try integer(whole, radix: 10, in: digits)
        }
        guard isFloat(rest.dropFirst(whole.count)), let number = Double(String(decoding: digits, as: UTF8.self)) else {
            throw Finding("is not a number", help: "a text is written in quotes: \"…\"")
        }
        return .float(number)
    }

    /// - Parameter digits: the digits without the sign and the mark of the radix.
    private static func integer(_ digits: ArraySlice<UInt8>, radix: Int, in word: [UInt8]) throws(Finding) -> TOMLValue
    {
        guard digits.allSatisfy({ hexadecimalDigit($0).map { $0 < radix } ?? false }) else {
            throw Finding("is not a number of base \(radix)")
        }
        let sign = word.first == UInt8(ascii: "-") ? "-" : ""
        guard let number = Int(sign + String(decoding: digits, as: UTF8.self), radix: radix) else {
            throw Finding("is too large; an integer is from \(Int.min) to \(Int.max)")
        }
        return .integer(number)
    }

    private static func hexadecimalDigit(_ byte: UInt8) -> Int? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(byte - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(byte - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(byte - UInt8(ascii: "A")) + 10
        default: nil
        }
    }

    /// Returns true for the rest of a float after its whole part: `.5`, `e7` or `.5e-7`.
    private static func isFloat(_ text: ArraySlice<UInt8>) -> Bool {
        var rest = text
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix(while: isDigit)
            guard !digits.isEmpty else { return false }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let letter = rest.first else { return true }
        guard letter == UInt8(ascii: "e") || letter == UInt8(ascii: "E") else { return false }
        rest = rest.dropFirst()
        if rest.first == UInt8(ascii: "-") || rest.first == UInt8(ascii: "+") { rest = rest.dropFirst() }
        return !rest.isEmpty && rest.allSatisfy(isDigit)
    }

    /// Returns the bytes without underscores; nil if one is not between two digits.
    private static func withoutUnderscores(_ word: ArraySlice<UInt8>) -> [UInt8]? {
        let underscore = UInt8(ascii: "_")
        guard word.contains(underscore) else { return Array(word) }
        let isHexadecimal = word.count > 2 && word[word.startIndex + 1] == UInt8(ascii: "x")
        func isDigit(_ index: Int) -> Bool {
            guard word.indices.contains(index) else { return false }
            return isHexadecimal
                // Neither the mark of the base nor the zero before it is a digit of the number.
                ? index > word.startIndex + 1 && hexadecimalDigit(word[index]) != nil
                : Self.isDigit(word[index])
        }
        for index in word.indices where word[index] == underscore {
            guard isDigit(index - 1), isDigit(index + 1) else { return nil }
        }
        return word.filter { $0 != underscore }
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}
