package import Foundation

/// The form of a date that a mapping gives: `%d.%m.%Y %H:%M` as in strptime(3), or `dd.MM.yyyy HH:mm` as in Unicode's
/// Locale Data Markup Language (UTS 35, part 4). Names of months and days are English.
///
/// Reading allows fewer digits than a field has. A time without a zone is taken to be in UTC. A time before the year 0 or after
/// 9999 is refused.
package struct DateFormat: Sendable, Hashable {
    enum Field: Sendable, Hashable {
        case year, shortYear, month, monthName, shortMonthName, day, hour, hour12, minute, second, fraction(Int)
        case dayPeriod, weekday, shortWeekday, zone(colon: Bool), epoch
        case literal(String)
    }

    /// The pattern as it was written.
    package let pattern: String
    let fields: [Field]

    /// A letter of a pattern that is not a part of a date.
    package struct UnknownLetter: Error, CustomStringConvertible {
        /// The letter, with its `%`; only the `%` at a pattern's end.
        package let letter: String

        package var description: String {
            let known =
                letter.hasPrefix("%")
                ? "%Y, %y (year), %m, %B, %b (month), %d (day), %H, %I (hour), %M (minute), %S (second), %f (microseconds), "
                    + "%p (AM or PM), %A, %a (day of the week), %z (offset), %s (seconds since 1970), %F, %T and %%"
                : "y (year), M (month), d (day), H, h (hour), m (minute), s (second), S (fraction), a (AM or PM), "
                    + "E (day of the week) and Z (offset); other letters go between apostrophes, as in yyyy-MM-dd'T'HH:mm"
            return "'\(letter)' is not a letter of a date; the letters are \(known)"
        }
    }

    /// Returns nil if a letter has no meaning, nothing gives the year, or an hour from 1 to 12 has no AM or PM.
    package init?(_ pattern: String) {
        guard let format = try? DateFormat(writing: pattern),
            format.fields.contains(where: { [.year, .shortYear, .epoch].contains($0) }), !format.lacksDayPeriod
        else { return nil }
        self = format
    }

    /// True if the pattern has the hour from 1 to 12, and neither AM nor PM.
    package var lacksDayPeriod: Bool { fields.contains(.hour12) && !fields.contains(.dayPeriod) }

    /// Creates a form that dates are only written in. It need not give the year.
    package init(writing pattern: String) throws(UnknownLetter) {
        fields = pattern.contains("%") ? try Self.strptime(pattern) : try Self.unicode(pattern)
        self.pattern = pattern
    }

    /// True if nothing of a date is in the pattern.
    package var isConstant: Bool {
        fields.allSatisfy { if case .literal = $0 { true } else { false } }
    }

    // MARK: - Patterns

    private static func strptime(_ pattern: String) throws(UnknownLetter) -> [Field] {
        var fields: [Field] = []
        var characters = pattern.makeIterator()
        while let character = characters.next() {
            guard character == "%" else {
                fields.append(.literal(String(character)))
                continue
            }
            let letter = characters.next()
            switch letter {
            case "Y": fields.append(.year)
            case "y": fields.append(.shortYear)
            case "m": fields.append(.month)
            case "B": fields.append(.monthName)
            case "b", "h": fields.append(.shortMonthName)
            case "d", "e": fields.append(.day)
            case "H": fields.append(.hour)
            case "I": fields.append(.hour12)
            case "M": fields.append(.minute)
            case "S": fields.append(.second)
            case "f": fields.append(.fraction(6))
            case "p": fields.append(.dayPeriod)
            case "A": fields.append(.weekday)
            case "a": fields.append(.shortWeekday)
            case "z": fields.append(.zone(colon: false))
            case "s": fields.append(.epoch)
            case "F": fields += [.year, .literal("-"), .month, .literal("-"), .day]
            case "T": fields += [.hour, .literal(":"), .minute, .literal(":"), .second]
            case "%": fields.append(.literal("%"))
            default: throw UnknownLetter(letter: "%" + (letter.map { String($0) } ?? ""))
            }
        }
        return fields
    }

    private static func unicode(_ pattern: String) throws(UnknownLetter) -> [Field] {
        var fields: [Field] = []
        var rest = Substring(pattern)
        while let first = rest.first {
            if first == "'" {
                rest.removeFirst()
                let quoted = rest.prefix { $0 != "'" }
                rest = rest.dropFirst(quoted.count + 1)
                fields.append(.literal(quoted.isEmpty ? "'" : String(quoted)))
                continue
            }
            let run = rest.prefix { $0 == first }
            rest = rest.dropFirst(run.count)
            switch (first, run.count) {
            case ("y", 2), ("u", 2): fields.append(.shortYear)
            case ("y", _), ("u", _): fields.append(.year)
            case ("M", 4), ("L", 4): fields.append(.monthName)
            case ("M", 3), ("L", 3): fields.append(.shortMonthName)
            case ("M", _), ("L", _): fields.append(.month)
            case ("d", _): fields.append(.day)
            case ("H", _): fields.append(.hour)
            case ("h", _): fields.append(.hour12)
            case ("m", _): fields.append(.minute)
            case ("s", _): fields.append(.second)
            case ("S", let digits): fields.append(.fraction(digits))
            case ("a", _): fields.append(.dayPeriod)
            case ("E", 4): fields.append(.weekday)
            case ("E", _): fields.append(.shortWeekday)
            case ("Z", 5), ("X", 3...), ("x", 3...): fields.append(.zone(colon: true))
            case ("Z", _), ("X", _), ("x", _), ("z", _): fields.append(.zone(colon: false))
            default:
                if first.isASCII, first.isLetter { throw UnknownLetter(letter: String(first)) }
                fields.append(.literal(String(run)))
            }
        }
        return fields
    }

    // MARK: - Reading

    /// Returns the point in time, or nil if the text is not of this form.
    ///
    /// - Parameter ignoresZone: true to take the time as if it were UTC, which gives the day that was written.
    package func date(_ text: UnsafeBufferPointer<UInt8>, ignoresZone: Bool = false) -> Date? {
        time(text, ignoresZone: ignoresZone)?.date
    }

    /// Returns the same, and whether the text names a zone.
    package func time(
        _ text: UnsafeBufferPointer<UInt8>, ignoresZone: Bool = false
    ) -> (date: Date, hasZone: Bool)? {
        read(text, ignoresZone: ignoresZone).flatMap { Lexical.isWritable($0.date) ? $0 : nil }
    }

    /// True if a text of this form may name a zone.
    package var mayHaveZone: Bool {
        fields.contains { field in
            switch field {
            case .zone, .epoch: true
            default: false
            }
        }
    }

    private func read(_ text: UnsafeBufferPointer<UInt8>, ignoresZone: Bool) -> (date: Date, hasZone: Bool)? {
        var scanner = DateScanner(text)
        var (year, month, day) = (1970, 1, 1)
        var (hour, minute, seconds) = (0, 0, 0.0)
        var isAfternoon: Bool?
        var offset = 0.0
        var hasZone = false
        var epoch: Double?
        for field in fields {
            switch field {
            case .year: if let value = scanner.number(atMost: 4) { year = value } else { return nil }
            case .shortYear:
                // As in POSIX: 69 to 99 belong to the last century.
                guard let value = scanner.number(atMost: 2) else { return nil }
                year = value + (value < 69 ? 2000 : 1900)
            case .month: if let value = scanner.number(atMost: 2) { month = value } else { return nil }
            case .monthName, .shortMonthName:
                guard let value = scanner.name(of: CivilDate.months, letters: field == .monthName ? .max : 3) else {
                    return nil
                }
                month = value + 1
            case .day: if let value = scanner.number(atMost: 2) { day = value } else { return nil }
            case .hour: if let value = scanner.number(atMost: 2) { hour = value } else { return nil }
            case .hour12:
                guard let value = scanner.number(atMost: 2), (1...12).contains(value) else { return nil }
                hour = value
            case .minute: if let value = scanner.number(atMost: 2) { minute = value } else { return nil }
            case .second: if let value = scanner.number(atMost: 2) { seconds += Double(value) } else { return nil }
            case .fraction: seconds += scanner.fraction()
            case .dayPeriod:
                guard let value = scanner.name(of: ["am", "pm"]) else { return nil }
                isAfternoon = value == 1
            case .weekday, .shortWeekday:
                guard scanner.name(of: CivilDate.weekdays, letters: field == .weekday ? .max : 3) != nil else {
                    return nil
                }
            case .zone:
                hasZone = !scanner.isAtEnd
                if let value = Self.offset(&scanner) { offset = value } else { return nil }
            case .epoch:
                let isNegative = scanner.skip("-")
                // Eighteen digits are less than 2^63, and more than any year.
                guard let value = scanner.number(atMost: 18) else { return nil }
                epoch = Double(isNegative ? -value : value)
            case .literal(let literal): guard scanner.skip(literal: literal) else { return nil }
            }
        }
        guard scanner.isAtEnd else { return nil }
        if let epoch { return (Date(timeIntervalSince1970: epoch), true) }
        if let isAfternoon {
            guard (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (isAfternoon ? 12 : 0)
        }
        guard hour < 24, let date = scanner.date(year, month, day, hour, minute, seconds) else { return nil }
        return (ignoresZone ? date : date - offset, hasZone)
    }

    /// Reads an offset from UTC in seconds: `+01:00`, `-0500`, `+1`, with `UTC` or `GMT` before it or not; zero for `Z`
    /// and at the end of the text.
    private static func offset(_ scanner: inout DateScanner) -> Double? {
        if scanner.name(of: ["z"]) != nil { return 0 }
        _ = scanner.name(of: ["utc", "gmt"])
        if scanner.isAtEnd { return 0 }
        if scanner.skip("+") { return scanner.offset() }
        return scanner.skip("-") ? scanner.offset().map { -$0 } : nil
    }

    // MARK: - Writing

    /// Writes a point in time in this form, as clocks show it that are this many seconds ahead of UTC.
    package func text(_ date: Date, offset: Int = 0) -> String {
        let instant = Lexical.milliseconds(date)
        let milliseconds = instant + offset * 1000
        let (days, inDay) = milliseconds.quotientAndRemainder(flooringBy: 86_400_000)
        let civil = CivilDate(daysSince1970: days)
        let weekday = (days + 4).quotientAndRemainder(flooringBy: 7).remainder
        let hour = inDay / 3_600_000
        return fields.reduce(into: "") { text, field in
            switch field {
            case .year: text += Lexical.padded(civil.year, 4)
            case .shortYear: text += Lexical.padded(civil.year % 100, 2)
            case .month: text += Lexical.padded(civil.month, 2)
            case .monthName: text += CivilDate.months[civil.month - 1].capitalized
            case .shortMonthName: text += CivilDate.months[civil.month - 1].capitalized.prefix(3)
            case .day: text += Lexical.padded(civil.day, 2)
            case .hour: text += Lexical.padded(hour, 2)
            case .hour12: text += Lexical.padded((hour + 11) % 12 + 1, 2)
            case .minute: text += Lexical.padded(inDay / 60_000 % 60, 2)
            case .second: text += Lexical.padded(inDay / 1000 % 60, 2)
            case .fraction(let digits):
                let fraction = Lexical.padded(inDay % 1000, 3) + String(repeating: "0", count: max(0, digits - 3))
                text += fraction.prefix(digits)
            case .dayPeriod: text += hour < 12 ? "AM" : "PM"
            case .weekday: text += CivilDate.weekdays[weekday].capitalized
            case .shortWeekday: text += CivilDate.weekdays[weekday].capitalized.prefix(3)
            case .zone(let colon):
                let minutes = abs(offset) / 60
                text += (offset < 0 ? "-" : "+") + Lexical.padded(minutes / 60, 2) + (colon ? ":" : "")
                text += Lexical.padded(minutes % 60, 2)
            case .epoch: text += String(instant.quotientAndRemainder(flooringBy: 1000).quotient)
            case .literal(let literal): text += literal
            }
        }
    }
}
