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
        var rest = Substring(decoding: text, as: UTF8.self)
        var year = 1970
        var month = 1
        var day = 1
        var hour = 0
        var minute = 0
        var seconds = 0.0
        var isAfternoon: Bool?
        var offset = 0
        var hasZone = false
        var epoch: Double?
        func number(_ most: Int) -> Int? {
            let digits = rest.prefix(most).prefix { $0.isASCII && $0.isNumber }
            rest = rest.dropFirst(digits.count)
            return Int(digits)
        }
        func name(_ names: [String], _ length: Int?) -> Int? {
            for (index, name) in names.enumerated() {
                let wanted = length.map { name.prefix($0) } ?? name[...]
                if rest.lowercased().hasPrefix(wanted.lowercased()) {
                    rest = rest.dropFirst(wanted.count)
                    return index
                }
            }
            return nil
        }
        func zone() -> Int? {
            hasZone = !rest.isEmpty
            if rest.first == "Z" || rest.first == "z" {
                rest.removeFirst()
                return 0
            }
            if rest.uppercased().hasPrefix("UTC") || rest.uppercased().hasPrefix("GMT") { rest = rest.dropFirst(3) }
            guard let sign = rest.first else { return 0 }
            guard sign == "+" || sign == "-" else { return nil }
            rest.removeFirst()
            guard let hours = number(2) else { return nil }
            if rest.first == ":" { rest.removeFirst() }
            let minutes = number(2) ?? 0
            // As in a date without a format.
            guard hours <= 18, minutes < 60 else { return nil }
            return (hours * 3600 + minutes * 60) * (sign == "-" ? -1 : 1)
        }
        for field in fields {
            switch field {
            case .year: if let value = number(4) { year = value } else { return nil }
            case .shortYear:
                // As in POSIX: 69 to 99 belong to the last century.
                if let value = number(2) { year = value + (value < 69 ? 2000 : 1900) } else { return nil }
            case .month: if let value = number(2) { month = value } else { return nil }
            case .monthName: if let value = name(Self.months, nil) { month = value + 1 } else { return nil }
            case .shortMonthName: if let value = name(Self.months, 3) { month = value + 1 } else { return nil }
            case .day: if let value = number(2) { day = value } else { return nil }
            case .hour: if let value = number(2) { hour = value } else { return nil }
            case .hour12: if let value = number(2), (1...12).contains(value) { hour = value } else { return nil }
            case .minute: if let value = number(2) { minute = value } else { return nil }
            case .second: if let value = number(2) { seconds += Double(value) } else { return nil }
            case .fraction:
                let digits = rest.prefix { $0.isASCII && $0.isNumber }
                guard let value = Double("0." + digits) else { return nil }
                rest = rest.dropFirst(digits.count)
                seconds += value
            case .dayPeriod: if let value = name(["am", "pm"], nil) { isAfternoon = value == 1 } else { return nil }
            case .weekday: guard name(Self.days, nil) != nil else { return nil }
            case .shortWeekday: guard name(Self.days, 3) != nil else { return nil }
            case .zone: if let value = zone() { offset = value } else { return nil }
            case .epoch:
                let digits = rest.prefix { $0.isASCII && ($0.isNumber || $0 == "-") }
                rest = rest.dropFirst(digits.count)
                if let value = Double(digits) { epoch = value } else { return nil }
            case .literal(let literal):
                guard rest.hasPrefix(literal) else { return nil }
                rest = rest.dropFirst(literal.count)
            }
        }
        guard rest.isEmpty else { return nil }
        if let epoch { return (Date(timeIntervalSince1970: epoch), true) }
        if let isAfternoon {
            guard (1...12).contains(hour) else { return nil }
            hour = hour % 12 + (isAfternoon ? 12 : 0)
        }
        guard hour < 24, minute < 60, seconds < 61, let civil = CivilDate(year: year, month: month, day: day) else {
            return nil
        }
        let time = Double(hour * 3600 + minute * 60) + seconds - Double(ignoresZone ? 0 : offset)
        return (Date(timeIntervalSince1970: Double(civil.daysSince1970 * 86_400) + time), hasZone)
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
            case .monthName: text += Self.months[civil.month - 1]
            case .shortMonthName: text += Self.months[civil.month - 1].prefix(3)
            case .day: text += Lexical.padded(civil.day, 2)
            case .hour: text += Lexical.padded(hour, 2)
            case .hour12: text += Lexical.padded((hour + 11) % 12 + 1, 2)
            case .minute: text += Lexical.padded(inDay / 60_000 % 60, 2)
            case .second: text += Lexical.padded(inDay / 1000 % 60, 2)
            case .fraction(let digits):
                let fraction = Lexical.padded(inDay % 1000, 3) + String(repeating: "0", count: max(0, digits - 3))
                text += fraction.prefix(digits)
            case .dayPeriod: text += hour < 12 ? "AM" : "PM"
            case .weekday: text += Self.days[weekday]
            case .shortWeekday: text += Self.days[weekday].prefix(3)
            case .zone(let colon):
                let minutes = abs(offset) / 60
                text += (offset < 0 ? "-" : "+") + Lexical.padded(minutes / 60, 2) + (colon ? ":" : "")
                text += Lexical.padded(minutes % 60, 2)
            case .epoch: text += String(instant.quotientAndRemainder(flooringBy: 1000).quotient)
            case .literal(let literal): text += literal
            }
        }
    }

    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
}
