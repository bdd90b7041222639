package import Foundation

extension Lexical {
    /// Reads a point in time in one of the forms that feeds use: ISO 8601 (RFC 3339, XML Schema `dateTime`, `date`,
    /// `gYearMonth`, `gYear`, and the basic form without separators), RFC 822 and 1123, RFC 850, and asctime. A missing
    /// time means midnight, a missing zone UTC.
    ///
    /// Returns nil for a time before the year 0 or after 9999 in UTC, which ISO 8601 does not write with four digits.
    ///
    /// - Parameter ignoresZone: true to take the time as if it were UTC, which gives the day that was written.
    package static func date(_ text: UnsafeBufferPointer<UInt8>, ignoresZone: Bool = false) -> Date? {
        time(text, ignoresZone: ignoresZone)?.date
    }

    /// Returns the same, and whether the text names a zone.
    package static func time(
        _ text: UnsafeBufferPointer<UInt8>, ignoresZone: Bool = false
    ) -> (date: Date, hasZone: Bool)? {
        guard let first = text.first else { return nil }
        var scanner = DateScanner(text, ignoresZone: ignoresZone)
        let isNumeric = first &- UInt8(ascii: "0") < 10
        guard let date = isNumeric && !scanner.startsWithDayOfMonth ? scanner.iso8601() : scanner.rfc822() else {
            return nil
        }
        return scanner.isAtEnd && isWritable(date) ? (date, scanner.hasZone) : nil
    }

    /// Returns true for a day as ``day(_:)`` writes it.
    package static func isDay(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            let century = twoDigits(text, 0), let year = twoDigits(text, 2), let month = twoDigits(text, 5),
            let day = twoDigits(text, 8)
        else { return false }
        return CivilDate(year: century * 100 + year, month: month, day: day) != nil
    }

    /// Returns true for a time as ``iso8601(_:)`` writes it, without milliseconds.
    package static func isInstant(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count == 20, text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"),
            text[16] == UInt8(ascii: ":"), text[19] == UInt8(ascii: "Z"), let hour = twoDigits(text, 11),
            let minute = twoDigits(text, 14), let second = twoDigits(text, 17)
        else { return false }
        return hour < 24 && minute < 60 && second < 60 && isDay(UnsafeBufferPointer(rebasing: text[..<10]))
    }

    @inline(__always)
    private static func twoDigits(_ text: UnsafeBufferPointer<UInt8>, _ place: Int) -> Int? {
        let (tens, ones) = (text[place] &- UInt8(ascii: "0"), text[place + 1] &- UInt8(ascii: "0"))
        return tens < 10 && ones < 10 ? Int(tens) * 10 + Int(ones) : nil
    }

    /// The milliseconds since 1970 whose year has four digits.
    static let writable = -62_167_219_200_000...253_402_300_799_999

    /// Returns true if a point in time has a year from 0 to 9999 in UTC.
    package static func isWritable(_ date: Date) -> Bool {
        Int(exactly: (date.timeIntervalSince1970 * 1000).rounded()).map(writable.contains) ?? false
    }

    /// Returns milliseconds since 1970. A time that cannot be written gives those of the nearest that can.
    static func milliseconds(_ date: Date) -> Int {
        let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
        if let exact = Int(exactly: milliseconds), writable.contains(exact) { return exact }
        return milliseconds > 0 ? writable.upperBound : writable.lowerBound
    }

    /// Writes ISO 8601 in UTC, with milliseconds only where there are any: `2026-11-21T08:30:00Z`. Times outside the
    /// years 0 to 9999 are written as the nearest time inside.
    package static func iso8601(_ date: Date) -> String {
        let milliseconds = milliseconds(date)
        let (days, inDay) = milliseconds.quotientAndRemainder(flooringBy: 86_400_000)
        let civil = CivilDate(daysSince1970: days)
        let seconds = inDay / 1000
        let fraction = inDay % 1000
        return String(unsafeUninitializedCapacity: 24) { text in
            var digits = DigitWriter(text, after: civil.write(to: text))
            digits.append(seconds / 3600, width: 2, after: "T")
            digits.append(seconds / 60 % 60, width: 2, after: ":")
            digits.append(seconds % 60, width: 2, after: ":")
            if fraction > 0 { digits.append(fraction, width: 3, after: ".") }
            digits.append("Z")
            return digits.count
        }
    }

    /// Writes the day of a point in time in UTC: `2026-11-21`. It is the nearest with a year from 0 to 9999.
    package static func day(_ date: Date) -> String {
        // Not from the milliseconds: a time that rounds up to midnight is still in the day before.
        let days = (date.timeIntervalSince1970 / 86_400).rounded(.down)
        let nearest = min(max(days, Double(writable.lowerBound / 86_400_000)), Double(writable.upperBound / 86_400_000))
        let civil = CivilDate(daysSince1970: nearest.isNaN ? 0 : Int(nearest))
        return String(unsafeUninitializedCapacity: 10) { civil.write(to: $0) }
    }

    static func padded(_ value: Int, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

extension Int {
    /// Divides, rounding towards negative infinity, so that the remainder is never negative.
    package func quotientAndRemainder(flooringBy divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
