/// Points in time.
extension CanonicalText {
    /// Returns the microseconds from 1970 to a time: `2026-11-21T08:30:00Z`, `2026-11-21 08:30:00.5+02`.
    ///
    /// - Parameter isZoned: false if a zone in the text does not count.
    /// - Returns: nil for other texts, and for years of other than four digits.
    static func microseconds(_ text: UnsafeRawBufferPointer, isZoned: Bool) -> Int64? {
        var reader = Reader(text: text)
        guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
            let day = reader.number(2), (1...12).contains(month), (1...31).contains(day)
        else { return nil }
        var seconds = days(year, month, day) * 86_400
        guard !reader.isAtEnd else { return seconds * 1_000_000 }
        guard reader.skip("T") || reader.skip(" "), let hour = reader.number(2), reader.skip(":"),
            let minute = reader.number(2)
        else { return nil }
        seconds += hour * 3600 + minute * 60
        var fraction: Int64 = 0
        if reader.skip(":") {
            guard let second = reader.number(2) else { return nil }
            seconds += second
            if reader.skip(".") { fraction = reader.fraction() }
        }
        guard let offset = reader.offset(), reader.isAtEnd else { return nil }
        return (seconds - (isZoned ? offset : 0)) * 1_000_000 + fraction
    }

    /// Returns the days from 1970 to a day of the Gregorian calendar.
    private static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // Years begin in March, so that the day that some have comes last.
        let year = month > 2 ? year : year - 1
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return year * 365 + year / 4 - year / 100 + year / 400 + dayOfYear - 719_468
    }

    private struct Reader {
        let text: UnsafeRawBufferPointer
        var index = 0

        var isAtEnd: Bool { index == text.count }

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard index < text.count, text[index] == UInt8(ascii: character) else { return false }
            index += 1
            return true
        }

        mutating func number(_ digits: Int) -> Int64? {
            guard index + digits <= text.count else { return nil }
            var number: Int64 = 0
            for byte in text[index..<index + digits] {
                guard byte &- 48 < 10 else { return nil }
                number = number * 10 + Int64(byte - 48)
            }
            index += digits
            return number
        }

        /// Reads microseconds, rounded as servers do.
        mutating func fraction() -> Int64 {
            var microseconds: Int64 = 0
            var unit: Int64 = 1_000_000
            var isFirst = true
            while index < text.count, text[index] &- 48 < 10 {
                let digit = Int64(text[index] - 48)
                if unit > 1 {
                    unit /= 10
                    microseconds += digit * unit
                } else if isFirst {
                    if digit >= 5 { microseconds += 1 }
                    isFirst = false
                }
                index += 1
            }
            return microseconds
        }

        /// Reads a zone's seconds east of Greenwich; none count as 0.
        mutating func offset() -> Int64? {
            if isAtEnd || skip("Z") { return 0 }
            let isWest = skip("-")
            guard isWest || skip("+"), let hours = number(2) else { return nil }
            _ = skip(":")
            let minutes = number(2) ?? 0
            return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
    }
}
