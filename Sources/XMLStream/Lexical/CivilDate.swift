/// A day of the proleptic Gregorian calendar, as ISO 8601 writes it.
package struct CivilDate {
    package var year: Int
    package var month: Int
    package var day: Int

    package init?(year: Int, month: Int, day: Int) {
        guard (1...12).contains(month), (1...CivilDate.days(in: month, of: year)).contains(day) else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Howard Hinnant, "chrono-compatible low-level date algorithms": years begin in March, an era has 400 of them.
    package init(daysSince1970 days: Int) {
        let (era, dayOfEra) = (days + 719_468).quotientAndRemainder(flooringBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shifted + 2) / 5 + 1
        month = shifted < 10 ? shifted + 3 : shifted - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    package var daysSince1970: Int {
        let shiftedYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = shiftedYear.quotientAndRemainder(flooringBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Writes a date of the years 0 to 9999, and returns the number of bytes: ten.
    func write(to text: UnsafeMutableBufferPointer<UInt8>) -> Int {
        var digits = DigitWriter(text)
        digits.append(year, width: 4)
        digits.append(month, width: 2, after: "-")
        digits.append(day, width: 2, after: "-")
        return digits.count
    }

    /// The English names of the months, in lower case.
    static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]
    /// The English names of the days of the week from Sunday on, in lower case.
    static let weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"]

    private static func days(in month: Int, of year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Writes numbers of fixed widths without an allocation for each.
struct DigitWriter {
    private let text: UnsafeMutableBufferPointer<UInt8>
    /// The number of bytes written.
    private(set) var count: Int

    /// - Parameter count: the number of bytes that stay before those written.
    init(_ text: UnsafeMutableBufferPointer<UInt8>, after count: Int = 0) { (self.text, self.count) = (text, count) }

    mutating func append(_ mark: Unicode.Scalar) {
        text[count] = UInt8(ascii: mark)
        count += 1
    }

    /// Appends the last digits of a number that is not negative, with zeros before them.
    mutating func append(_ value: Int, width: Int, after mark: Unicode.Scalar? = nil) {
        if let mark { append(mark) }
        var rest = value
        for place in (count..<count + width).reversed() {
            text[place] = UInt8(ascii: "0") + UInt8(rest % 10)
            rest /= 10
        }
        count += width
    }
}
