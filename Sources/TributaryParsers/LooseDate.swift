import Foundation
import Tributary

/// Dates that keep to no standard: a reader understands them at once, and a mapping's date column refuses them.
///
/// They have swapped fields, commas anywhere, names of months in Greek and Hungarian, Korean dates, short and ordinal
/// forms of ISO 8601, and unregistered names of zones.
enum LooseDate {
    /// Returns the date; nil if the text is not one.
    static func date(_ text: String) -> Date? {
        if let date = Date(xmlText: text) { return date }
        guard text.utf8.count <= 100 else { return nil }
        var fields = Fields()
        for token in tokens(text) {
            guard fields.take(token) else { return nil }
        }
        return fields.date
    }

    /// Splits a text at spaces and commas, and dates from times. Hungarian months become numbers, Korean signs spaces.
    private static func tokens(_ text: String) -> [Substring] {
        var text = text.replacingOccurrences(of: "/", with: "-")
        for (name, number) in hungarianMonths where text.contains(name) {
            text = text.replacingOccurrences(of: "-\(name)-", with: "-\(number)-")
        }
        // 2004년 05월 28일: year, month and day.
        if text.contains("\u{B144}") {
            text = text.replacingOccurrences(of: "\u{B144} ", with: "-").replacingOccurrences(
                of: "\u{C6D4} ", with: "-"
            )
            .replacingOccurrences(of: "\u{C77C}", with: " Korea ")
        }
        return text.split { $0 == "," || $0.isWhitespace }.flatMap { token -> [Substring] in
            // A date, with a time after a T.
            guard let first = token.first, first.isNumber || first == "-", let end = token.firstIndex(of: "T") else {
                return [token]
            }
            return [token[..<end], token[end...].dropFirst()]
        }
    }

    private struct Fields {
        var year: Int?
        var month: Int?
        var day: Int?
        var time: (hour: Int, minute: Int, seconds: String)?
        /// The hour from which the hours of the time count, where a day has two halves.
        var half: Int?
        var zone: String?

        /// - Returns: false if none of these forms has such a part.
        mutating func take(_ token: Substring) -> Bool {
            if token.contains(":"), token.first?.isNumber == true { return takeTime(token) }
            if let first = token.first, first == "+" || first == "-", time != nil { return takeOffset(token) }
            if token.utf8.allSatisfy({ $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") }) { return takeDate(token) }
            if let half = LooseDate.halves[token.lowercased()] {
                self.half = half
                // Korea has one zone.
                if !token.utf8.contains(where: { $0 < 0x80 }) { zone = "+09:00" }
                return true
            }
            if month == nil, let number = LooseDate.month(token) {
                month = number
                return true
            }
            if time == nil {
                // A day of the week, or the zone of a Korean date.
                if token == "Korea" { zone = "+09:00" }
                return !token.contains { $0.isNumber }
            }
            return takeZone(token)
        }

        private mutating func takeDate(_ token: Substring) -> Bool {
            let parts = token.split(separator: "-", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { Int($0) }
            let isShort = parts.first?.isEmpty == true
            switch (parts.count, token.utf8.count) {
            case (1, 1...2) where day == nil: day = numbers.first
            case (1, 2) where year == nil: year = Self.century(numbers[0])
            case (1, 4) where year == nil: year = numbers.first
            case (1, 5): (year, month, day) = ordinal(Self.century(numbers[0] / 1000), numbers[0] % 1000)
            case (1, 6):
                (year, month, day) = (Self.century(numbers[0] / 10_000), numbers[0] / 100 % 100, numbers[0] % 100)
            case (1, 7): (year, month, day) = ordinal(numbers[0] / 1000, numbers[0] % 1000)
            case (2, 5) where isShort && numbers.count == 1:
                (year, month, day) = (Self.century(numbers[0] / 100), numbers[0] % 100, 1)
            case (3, 6) where isShort && numbers.count == 2:
                (year, month, day) = (Self.century(numbers[0]), numbers[1], 1)
            case (2, 8) where numbers.count == 2: (year, month, day) = ordinal(numbers[0], numbers[1])
            case (3, _) where numbers.count == 3:
                (year, month, day) = (
                    parts[0].utf8.count == 2 ? Self.century(numbers[0]) : numbers[0], numbers[1], numbers[2]
                )
            default: return false
            }
            return true
        }

        private mutating func takeTime(_ token: Substring) -> Bool {
            guard time == nil else { return false }
            let end = token.firstIndex { !($0.isNumber || $0 == ":" || $0 == ".") } ?? token.endIndex
            let parts = token[..<end].split(separator: ":", omittingEmptySubsequences: false)
            guard parts.count == 2 || parts.count == 3, let hour = Int(parts[0]), let minute = Int(parts[1]),
                hour < 25, minute < 60
            else { return false }
            time = (hour, minute, parts.count == 3 ? LooseDate.padded(String(parts[2])) : "00")
            let rest = token[end...]
            if rest.isEmpty { return true }
            if let half = LooseDate.halves[rest.lowercased()] {
                self.half = half
                return true
            }
            return "+-".contains(rest[end]) ? takeOffset(rest) : takeZone(rest)
        }

        private mutating func takeOffset(_ token: Substring) -> Bool {
            let digits = token.dropFirst().filter { $0 != ":" }
            guard (1...4).contains(digits.utf8.count), digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return false }
            let hours = digits.utf8.count <= 2 ? digits : String(digits.dropLast(2))
            let minutes = digits.utf8.count <= 2 ? "00" : String(digits.suffix(2))
            zone = "\(token.prefix(1))\(LooseDate.padded(hours)):\(minutes)"
            return true
        }

        private mutating func takeZone(_ token: Substring) -> Bool {
            guard token.allSatisfy({ $0.isLetter || "-+:.()".contains($0) || $0.isNumber }) else { return false }
            let name = token.uppercased().replacingOccurrences(of: "ETC-", with: "")
            // GMT+01:00
            if let sign = name.firstIndex(where: { $0 == "+" || $0 == "-" }), ["GMT", "UTC"].contains(name[..<sign]) {
                return takeOffset(name[sign...])
            }
            guard name.allSatisfy({ $0.isLetter || "().".contains($0) }) else { return false }
            // A comment that names a zone given already.
            if zone == nil { zone = LooseDate.zones[name] ?? " " + name }
            return true
        }

        private static func century(_ year: Int) -> Int { year < 50 ? 2000 + year : 1900 + year }

        private func ordinal(_ year: Int, _ dayOfYear: Int) -> (Int?, Int?, Int?) {
            let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            var rest = dayOfYear
            for (index, days) in [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31].enumerated() {
                if (1...days).contains(rest) { return (year, index + 1, rest) }
                rest -= days
            }
            return (nil, nil, nil)
        }

        var date: Date? {
            guard let year, let month, let day else { return nil }
            var hour = time?.hour ?? 0
            if let half, (1...12).contains(hour) { hour = hour % 12 + half }
            let text = [LooseDate.padded("\(year)", 4), LooseDate.padded("\(month)"), LooseDate.padded("\(day)")]
                .joined(separator: "-")
            guard let time else { return Date(xmlText: text) }
            let start =
                "\(text)T\(LooseDate.padded("\(hour)")):\(LooseDate.padded("\(time.minute)")):\(time.seconds)"
            // An unknown zone is ignored.
            return Date(xmlText: start + (zone ?? "")) ?? (zone?.first == " " ? Date(xmlText: start) : nil)
        }
    }

    private static func padded(_ text: String, _ width: Int = 2) -> String {
        String(repeating: "0", count: max(0, width - text.utf8.count)) + text
    }

    /// Returns the number of a month from the beginning of its English or Greek name.
    private static func month(_ token: Substring) -> Int? {
        let name = token.lowercased()
        guard name.count >= 3 else { return nil }
        if let index = months.firstIndex(where: { $0.hasPrefix(name.drop { $0 == "." }) }) { return index + 1 }
        return greekMonths.first { $0.names.contains { name.hasPrefix($0) } }?.number
    }

    /// The hours added to a twelve-hour time, by its marker in English and in Korean.
    private static let halves = ["am": 0, "pm": 12, "\u{C624}\u{C804}": 0, "\u{C624}\u{D6C4}": 12]

    private static let zones = [
        "AT": "-04:00", "ET": "-05:00", "CT": "-06:00", "MT": "-07:00", "PT": "-08:00", "AST": "-04:00",
        "ADT": "-03:00",
        "AKST": "-09:00", "AKDT": "-08:00", "HST": "-10:00", "MET": "+01:00", "MEST": "+02:00", "KST": "+09:00",
        "IST": "+05:30", "AEST": "+10:00", "AEDT": "+11:00", "NZST": "+12:00", "NZDT": "+13:00", "SGT": "+08:00",
    ]

    private static let months = [
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    ]

    private static let greekMonths: [(names: [String], number: Int)] = [
        (["ιαν"], 1), (["φεβ"], 2), (["μάώ", "μαώ", "μάρ", "μαρ"], 3), (["απρ"], 4), (["μάι", "μαϊ", "μαι"], 5),
        (["ιούν", "ιον"], 6), (["ιούλ", "ιολ"], 7), (["αύγ", "αυγ"], 8), (["σεπ"], 9), (["οκτ"], 10),
        (["νοέ", "νοε"], 11), (["δεκ"], 12),
    ]

    private static let hungarianMonths = [
        "január": "01", "február": "02", "februári": "02", "március": "03", "április": "04", "május": "05",
        "máujus": "05", "június": "06", "július": "07", "augusztus": "08", "szeptember": "09", "október": "10",
        "november": "11", "december": "12",
    ]
}
