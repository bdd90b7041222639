import XMLStream

/// Dates and times as in RFC 3339, with or without a zone, and each half alone.
enum TOMLDate {
    /// Returns true if a word begins like a date or a time.
    static func isMeant(by word: ArraySlice<UInt8>) -> Bool {
        var rest = word
        return digits(4, &rest) != nil && rest.first == UInt8(ascii: "-") || isTimeMeant(by: word)
    }

    private static func isTimeMeant(by word: ArraySlice<UInt8>) -> Bool {
        var rest = word
        return digits(2, &rest) != nil && rest.first == UInt8(ascii: ":")
    }

    /// Returns a date, a time or both as text, with the seconds if they were left out; nil if the word is none.
    static func text(_ word: ArraySlice<UInt8>) -> String? {
        guard isDate(word) else { return nil }
        var text = Array(word)
        if let colon = text.firstIndex(of: UInt8(ascii: ":")) {
            let seconds = colon + 3
            if seconds == text.count || text[seconds] != UInt8(ascii: ":") {
                text.insert(contentsOf: ":00".utf8, at: seconds)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isDate(_ word: ArraySlice<UInt8>) -> Bool {
        var rest = word
        if isTimeMeant(by: word) { return takeTime(&rest) && rest.isEmpty }
        guard let year = digits(4, &rest), take("-", &rest), let month = digits(2, &rest), take("-", &rest),
            let day = digits(2, &rest), CivilDate(year: year, month: month, day: day) != nil
        else { return false }
        if rest.isEmpty { return true }
        guard take("T", &rest) || take("t", &rest) || take(" ", &rest), takeTime(&rest) else { return false }
        return rest.isEmpty || takeZone(&rest) && rest.isEmpty
    }

    /// Takes `07:32`, `07:32:00` or `07:32:00.999`. A minute may have a leap second.
    private static func takeTime(_ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let hour = digits(2, &rest), take(":", &rest), let minute = digits(2, &rest), hour < 24, minute < 60
        else { return false }
        guard take(":", &rest) else { return true }
        guard let second = digits(2, &rest), second <= 60 else { return false }
        guard take(".", &rest) else { return true }
        let fraction = rest.prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        rest = rest.dropFirst(fraction.count)
        return !fraction.isEmpty
    }

    /// Takes `Z` or `+01:00`.
    private static func takeZone(_ rest: inout ArraySlice<UInt8>) -> Bool {
        if take("Z", &rest) || take("z", &rest) { return true }
        guard take("+", &rest) || take("-", &rest), let hour = digits(2, &rest), take(":", &rest),
            let minute = digits(2, &rest)
        else { return false }
        return hour < 24 && minute < 60
    }

    private static func take(_ character: Character, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard let first = rest.first, first == character.asciiValue else { return false }
        rest = rest.dropFirst()
        return true
    }

    private static func digits(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> Int? {
        let digits = rest.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        rest = rest.dropFirst(count)
        return digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }
}
