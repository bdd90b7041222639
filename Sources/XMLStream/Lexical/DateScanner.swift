import Foundation

/// Reads dates from the left, one field after another: those of feeds, and the fields of a ``DateFormat``. Returns nil
/// as soon as a field is wrong.
struct DateScanner {
    private let text: UnsafeBufferPointer<UInt8>
    private var position = 0

    /// True to keep the date that was written, wherever on Earth. The zone is read and not applied.
    private let ignoresZone: Bool
    /// True once a zone has been read.
    private(set) var hasZone = false

    init(_ text: UnsafeBufferPointer<UInt8>, ignoresZone: Bool = false) {
        self.text = text
        self.ignoresZone = ignoresZone
    }

    var isAtEnd: Bool { position == text.count }

    /// True for `6 Nov 1994 …`: it begins with a digit too, but its second or third character is not one.
    var startsWithDayOfMonth: Bool {
        let digits = text.prefix { $0 &- UInt8(ascii: "0") < 10 }.count
        return digits <= 2 && text.count > digits && text[digits] == UInt8(ascii: " ")
    }

    // MARK: - ISO 8601

    mutating func iso8601() -> Date? {
        guard let year = number(exactly: 4) else { return nil }
        guard !isAtEnd else { return date(year, 1, 1) }
        let extended = skip("-")
        guard let month = number(exactly: 2) else { return nil }
        guard !isAtEnd else { return extended ? date(year, month, 1) : nil }
        if extended, !skip("-") { return nil }
        guard let day = number(exactly: 2) else { return nil }
        guard !isAtEnd else { return date(year, month, day) }
        if position < text.count, "Zz+-".utf8.contains(text[position]) {
            return zone().flatMap { offset in date(year, month, day).map { $0 - offset } }
        }
        guard skip("T") || skip("t") || skip(" ") else { return nil }
        skipSpaces()
        guard let hour = number(exactly: 2) else { return nil }
        var minute = 0
        var seconds = 0.0
        if skip(":") || (!extended && isDigit) {
            guard let value = number(exactly: 2) else { return nil }
            minute = value
            if skip(":") || (!extended && isDigit) {
                guard let value = fractionalSeconds() else { return nil }
                seconds = value
            }
        }
        skipSpaces()
        guard let offset = isAtEnd ? 0 : zone() else { return nil }
        return date(year, month, day, hour, minute, seconds).map { $0 - offset }
    }

    // MARK: - RFC 822, RFC 850 and asctime

    mutating func rfc822() -> Date? {
        if !isDigit {
            guard let name = word(), Self.isDayName(name) else { return nil }
            _ = skip(".")
            _ = skip(",")
            skipSpaces()
            if let month = Self.month(peekWord()) { return asctime(month) }
        }
        guard let day = number(atMost: 2) else { return nil }
        skipSeparator()
        guard let month = Self.month(word()) else { return nil }
        _ = skip(".")
        skipSeparator()
        guard let year = year() else { return nil }
        _ = skip(",")
        skipSpaces()
        guard !isAtEnd else { return date(year, month, day) }
        guard let time = time() else { return nil }
        skipSpaces()
        guard let offset = isAtEnd ? 0 : zone() else { return nil }
        skipComment()
        return date(year, month, day, time.hour, time.minute, time.seconds).map { $0 - offset }
    }

    private mutating func asctime(_ month: Int) -> Date? {
        _ = word()
        skipSpaces()
        guard let day = number(atMost: 2) else { return nil }
        skipSpaces()
        guard let time = time() else { return nil }
        skipSpaces()
        guard let year = number(exactly: 4) else { return nil }
        return date(year, month, day, time.hour, time.minute, time.seconds)
    }

    private mutating func time() -> (hour: Int, minute: Int, seconds: Double)? {
        guard let hour = number(atMost: 2), skip(":"), let minute = number(exactly: 2) else { return nil }
        guard skip(":") else { return (hour, minute, 0) }
        return fractionalSeconds().map { (hour, minute, $0) }
    }

    /// Reads a year. Two digits mean 1950 to 2049 (RFC 2822, section 4.3); four are taken as they are.
    private mutating func year() -> Int? {
        let start = position
        guard let year = number(atMost: 4) else { return nil }
        switch position - start {
        case 2: return year < 50 ? 2000 + year : 1900 + year
        case 4: return year
        default: return nil
        }
    }

    // MARK: - Fields

    /// Reads a zone as seconds east of Greenwich: `Z`, `+01:00`, `-0500`, `+1`, or a name of RFC 822, section 5.1.
    private mutating func zone() -> Double? {
        let offset = writtenZone()
        hasZone = offset != nil
        return ignoresZone ? offset.map { _ in 0 } : offset
    }

    private mutating func writtenZone() -> Double? {
        if isAtEnd { return nil }
        if position + 1 == text.count, skip("Z") { return 0 }
        if skip("+") { return offset() }
        if skip("-") { return offset().map { -$0 } }
        guard let name = word() else { return nil }
        guard let hours = Self.zones[name.uppercased()] else { return nil }
        // "GMT+01:00" is wrong and common.
        if hours == 0, skip("+") { return offset() }
        if hours == 0, skip("-") { return offset().map { -$0 } }
        return Double(hours * 3600)
    }

    mutating func offset() -> Double? {
        guard let hours = number(atMost: 2) else { return nil }
        _ = skip(":")
        let minutes = isDigit ? number(exactly: 2) : 0
        guard let minutes, hours <= 18, minutes < 60 else { return nil }
        return Double(hours * 3600 + minutes * 60)
    }

    private mutating func fractionalSeconds() -> Double? {
        guard let value = number(exactly: 2).map(Double.init) else { return nil }
        guard skip(".") || skip(",") else { return value }
        return isDigit ? value + fraction() : nil
    }

    /// Reads the digits after a point.
    mutating func fraction() -> Double {
        var value = 0.0
        var unit = 0.1
        while isDigit {
            value += Double(text[position] - UInt8(ascii: "0")) * unit
            unit /= 10
            position += 1
        }
        return value
    }

    func date(
        _ year: Int, _ month: Int, _ day: Int, _ hour: Int = 0, _ minute: Int = 0, _ seconds: Double = 0
    ) -> Date? {
        // 24:00:00 is the end of the day; a leap second is the first of the next minute.
        guard let civil = CivilDate(year: year, month: month, day: day), minute < 60, seconds < 61,
            hour < 24 || (hour == 24 && minute == 0 && seconds == 0)
        else { return nil }
        let whole = civil.daysSince1970 * 86_400 + hour * 3600 + minute * 60
        return Date(timeIntervalSince1970: Double(whole) + seconds)
    }

    // MARK: - Characters

    private var isDigit: Bool { position < text.count && text[position] &- UInt8(ascii: "0") < 10 }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < text.count, text[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func skip(literal: String) -> Bool {
        guard text[position...].starts(with: literal.utf8) else { return false }
        position += literal.utf8.count
        return true
    }

    /// Reads one of some names, or the first letters of one, in any case, and returns its position among them.
    ///
    /// - Parameter names: in lower case.
    mutating func name(of names: [String], letters: Int = .max) -> Int? {
        let found = names.firstIndex { name in
            let wanted = name.utf8.prefix(letters)
            return text[position...].prefix(wanted.count).elementsEqual(wanted) { $0 | 0x20 == $1 }
        }
        if let found { position += min(letters, names[found].utf8.count) }
        return found
    }

    private mutating func skipSpaces() {
        while position < text.count, isXMLSpace(text[position]) { position += 1 }
    }

    private mutating func skipSeparator() {
        if !skip("-") { skipSpaces() }
    }

    /// Skips a comment: `Tue, 1 Jul 2003 10:52:37 +0200 (CEST)`
    private mutating func skipComment() {
        skipSpaces()
        if position < text.count, text[position] == UInt8(ascii: "("), text[text.count - 1] == UInt8(ascii: ")") {
            position = text.count
        }
    }

    private mutating func number(exactly digits: Int) -> Int? {
        let start = position
        guard let value = number(atMost: digits), position - start == digits else { return nil }
        return value
    }

    mutating func number(atMost digits: Int) -> Int? {
        let start = position
        var value = 0
        while isDigit, position - start < digits {
            value = value * 10 + Int(text[position] - UInt8(ascii: "0"))
            position += 1
        }
        return position > start ? value : nil
    }

    private mutating func word() -> String? {
        let word = peekWord()
        position += word?.utf8.count ?? 0
        return word
    }

    private func peekWord() -> String? {
        let letters = text[position...].prefix { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
        return letters.isEmpty ? nil : String(decoding: letters, as: UTF8.self)
    }

    private static func month(_ name: String?) -> Int? {
        guard let name = name?.lowercased(), name.utf8.count >= 3 else { return nil }
        return CivilDate.months.firstIndex { $0.hasPrefix(name) }.map { $0 + 1 }
    }

    private static func isDayName(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.utf8.count >= 3 && CivilDate.weekdays.contains { $0.hasPrefix(name) }
    }

    private static let zones = [
        "Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6,
        "PST": -8, "PDT": -7, "CET": 1, "CEST": 2, "BST": 1, "WET": 0, "WEST": 1, "EET": 2, "EEST": 3, "MSK": 3,
        "JST": 9,
    ]
}
