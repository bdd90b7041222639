import XMLStream

/// A rule by which clocks are changed every year, such as `CET-1CEST,M3.5.0,M10.5.0/3` (POSIX, environment variable TZ;
/// RFC 8536, section 3.3.1).
struct RepeatedZone: Sendable, Hashable {
    /// A time of each year, by the clocks that it ends.
    private struct Change: Hashable {
        private enum Day: Hashable {
            /// From 1 to 365; there is no 29 February.
            case withoutLeapDay(Int)
            /// From 0 to 365.
            case ofYear(Int)
            /// The last one where the week is 5.
            case weekday(Int, week: Int, month: Int)
        }

        private var day: Day
        /// Seconds from the day's beginning; also below zero, and of days after it.
        private var time: Int

        init?(_ text: Substring) {
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
            guard let first = parts.first else { return nil }
            time = 2 * 3600
            if parts.count == 2 {
                var rest = parts[1]
                guard let seconds = RepeatedZone.seconds(&rest), rest.isEmpty else { return nil }
                time = seconds
            }
            let numbers = first.drop { "MJ".contains($0) }.split(separator: ".").map { Int($0) ?? -1 }
            switch (first.first, numbers.count) {
            case ("M", 3):
                guard (1...12).contains(numbers[0]), (1...5).contains(numbers[1]), (0...6).contains(numbers[2]) else {
                    return nil
                }
                day = .weekday(numbers[2], week: numbers[1], month: numbers[0])
            case ("J", 1) where (1...365).contains(numbers[0]): day = .withoutLeapDay(numbers[0])
            case (let letter, 1) where letter != "M" && letter != "J" && (0...365).contains(numbers[0]):
                day = .ofYear(numbers[0])
            default: return nil
            }
        }

        /// Returns the seconds since 1970, by the clocks that it ends.
        func local(in year: Int) -> Int { days(in: year) * 86_400 + time }

        private func days(in year: Int) -> Int {
            let start = RepeatedZone.day(year, 1, 1)
            switch day {
            case .ofYear(let number): return start + number
            case .withoutLeapDay(let number):
                let hasLeapDay = RepeatedZone.day(year, 3, 1) - start == 60
                return start + number - (hasLeapDay && number >= 60 ? 0 : 1)
            case .weekday(let weekday, let week, let month):
                let first = RepeatedZone.day(year, month, 1)
                let next = month == 12 ? RepeatedZone.day(year + 1, 1, 1) : RepeatedZone.day(year, month + 1, 1)
                // 1 January 1970 was a Thursday.
                let ofFirst = (first + 4).quotientAndRemainder(flooringBy: 7).remainder
                let found = first + (weekday - ofFirst + 7) % 7 + (week - 1) * 7
                return found < next ? found : found - 7
            }
        }
    }

    private var standard: Int
    private var summer: Summer?

    private struct Summer: Hashable {
        var offset: Int
        var start: Change
        var end: Change
    }

    init?(_ text: String) {
        var rest = Substring(text)
        guard Self.dropName(&rest), let west = Self.seconds(&rest) else { return nil }
        standard = -west
        guard !rest.isEmpty else { return }
        guard Self.dropName(&rest) else { return nil }
        var offset = standard + 3600
        if rest.first != "," {
            guard let west = Self.seconds(&rest) else { return nil }
            offset = -west
        }
        let parts = rest.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].isEmpty, let start = Change(parts[1]), let end = Change(parts[2]) else {
            return nil
        }
        summer = Summer(offset: offset, start: start, end: end)
    }

    /// Returns the seconds east of UTC at a moment.
    func offset(at moment: Int) -> Int {
        guard let summer else { return standard }
        let days = (moment + standard).quotientAndRemainder(flooringBy: 86_400).quotient
        let year = CivilDate(daysSince1970: days).year
        let start = summer.start.local(in: year) - standard
        let end = summer.end.local(in: year) - summer.offset
        // South of the equator, summer begins in one year and ends in the next.
        let isSummer = start < end ? moment >= start && moment < end : moment >= start || moment < end
        return isSummer ? summer.offset : standard
    }

    /// Returns the first moment after another at which summer time begins or ends; nil without one.
    func change(after moment: Int) -> Int? {
        guard let summer else { return nil }
        let year = CivilDate(daysSince1970: moment.quotientAndRemainder(flooringBy: 86_400).quotient).year
        return (year - 1...year + 1).flatMap { year in
            [summer.start.local(in: year) - standard, summer.end.local(in: year) - summer.offset]
        }.filter { $0 > moment }.min()
    }

    private static func day(_ year: Int, _ month: Int, _ day: Int) -> Int {
        CivilDate(year: year, month: month, day: day)?.daysSince1970 ?? 0
    }

    /// Drops letters, or anything between `<` and `>`.
    private static func dropName(_ text: inout Substring) -> Bool {
        if text.first == "<" {
            guard let end = text.firstIndex(of: ">") else { return false }
            text = text[text.index(after: end)...]
            return true
        }
        let rest = text.drop { $0.isASCII && $0.isLetter }
        defer { text = rest }
        return rest.startIndex > text.startIndex
    }

    /// Takes `[+-]hh[:mm[:ss]]` from the beginning.
    private static func seconds(_ text: inout Substring) -> Int? {
        let sign = text.first == "-" ? -1 : 1
        if let first = text.first, "+-".contains(first) { text = text.dropFirst() }
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ":") }
        text = text[digits.endIndex...]
        let parts = digits.split(separator: ":", omittingEmptySubsequences: false).map { Int($0) ?? -1 }
        guard (1...3).contains(parts.count), (0...167).contains(parts[0]),
            parts.dropFirst().allSatisfy({ (0...59).contains($0) })
        else { return nil }
        return sign * zip(parts, [3600, 60, 1]).reduce(0) { $0 + $1.0 * $1.1 }
    }
}
