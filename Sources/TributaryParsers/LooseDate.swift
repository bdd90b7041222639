import Foundation
import Tributary

/// Dates that keep to no standard: a reader understands them at once, and a mapping's date column refuses them.
///
/// They have swapped fields, commas anywhere, years of two digits, hours of twelve, and unregistered names of zones.
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

    /// Splits a text at spaces and commas, and dates from times.
    private static func tokens(_ text: String) -> [Substring] {
        text.replacingOccurrences(of: "/", with: "-").split { $0 == "," || $0.isWhitespace }
            .flatMap { token -> [Substring] in
                // A date, with a time after a T.
                guard token.first?.isNumber == true, let end = token.firstIndex(of: "T") else { return [token] }
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
            if mayBeHalf(token) { return false }
            if token.contains(":"), token.first?.isNumber == true { return takeTime(token) }
            if let first = token.first, first == "+" || first == "-", time != nil { return takeOffset(token) }
            if token.utf8.allSatisfy({ $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") }) { return takeDate(token) }
            if let half = LooseDate.halves[token.lowercased()] {
                self.half = half
                return true
            }
            if month == nil, let number = LooseDate.month(token) {
                month = number
                return true
            }
            if time == nil {
                // A day of the week.
                return !token.contains { $0.isNumber }
            }
            return takeZone(token)
        }

        /// Returns true for a word in a script without upper and lower case, unless it is in a comment. It may be half of
        /// a day, such as 오후, without which the hour would be wrong.
        private func mayBeHalf(_ token: Substring) -> Bool {
            token.contains { $0.isLetter && !$0.isCased } && !token.contains { "()".contains($0) }
        }

        private mutating func takeDate(_ token: Substring) -> Bool {
            let parts = token.split(separator: "-", omittingEmptySubsequences: false)
            let numbers = parts.compactMap { Int($0) }
            switch (parts.count, token.utf8.count) {
            case (1, 1...2) where day == nil: day = numbers.first
            case (1, 2) where year == nil: year = Self.century(numbers[0])
            case (1, 4) where year == nil: year = numbers.first
            case (1, 6):
                (year, month, day) = (Self.century(numbers[0] / 10_000), numbers[0] / 100 % 100, numbers[0] % 100)
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

    /// Returns the number of a month from the beginning of its name.
    private static func month(_ token: Substring) -> Int? {
        let name = token.lowercased()
        guard name.count >= 3 else { return nil }
        return months.firstIndex { $0.hasPrefix(name.drop { $0 == "." }) }.map { $0 + 1 }
    }

    /// The hours added to a twelve-hour time, by its marker.
    private static let halves = ["am": 0, "pm": 12]

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
}
