package import Foundation

/// Dates as GRDB and Tributary's own tables write them, without a formatter, because many rows contain one.
///
/// Formatters handle the dates for which these functions return nil: years in which calendars differ, or of other than
/// four digits; and, in a record's columns, fractions of seconds.
package enum UTCText {
    /// `2026-11-21T08:30:00Z`
    package static func iso8601(_ date: Date) -> String? {
        time_t(exactly: date.timeIntervalSince1970).flatMap { text(of: $0, separator: "T", end: "Z") }
    }

    /// `2026-11-21 08:30:00.000`
    package static func sqlite(_ date: Date) -> String? {
        time_t(exactly: date.timeIntervalSince1970).flatMap { text(of: $0, separator: " ", end: ".000") }
    }

    /// `2026-11-21T08:30:00.000Z`, from milliseconds since 1970.
    package static func storeDate(_ milliseconds: Double) -> String? {
        guard milliseconds >= 0, let milliseconds = Int(exactly: milliseconds) else { return nil }
        let (seconds, fraction) = milliseconds.quotientAndRemainder(dividingBy: 1000)
        return text(of: seconds, separator: "T", end: ".\(String(1000 + fraction).dropFirst())Z")
    }

    /// Reads the text that ``storeDate(_:)`` writes.
    package static func date(_ text: String) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count == pattern.count else { return nil }
            for (byte, expected) in zip(bytes, pattern) {
                let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                guard expected == UInt8(ascii: "0") ? isDigit : byte == expected else { return nil }
            }
            func number(_ range: Range<Int>) -> Int32 {
                bytes[range].reduce(0) { $0 * 10 + Int32($1 - UInt8(ascii: "0")) }
            }
            var parts = tm()
            parts.tm_year = number(0..<4) - 1900
            parts.tm_mon = number(5..<7) - 1
            parts.tm_mday = number(8..<10)
            parts.tm_hour = number(11..<13)
            parts.tm_min = number(14..<16)
            parts.tm_sec = number(17..<19)
            guard parts.tm_mon < 12, parts.tm_mday < 32, parts.tm_hour < 24, parts.tm_min < 60, parts.tm_sec < 61 else {
                return nil
            }
            return Date(timeIntervalSince1970: Double(timegm(&parts)) + Double(number(20..<23)) / 1000)
        }
    }

    private static let pattern = Array("0000-00-00T00:00:00.000Z".utf8)

    private static func text(of seconds: time_t, separator: Unicode.Scalar, end: String) -> String? {
        var seconds = seconds
        var parts = tm()
        guard gmtime_r(&seconds, &parts) != nil, (0..<8100).contains(parts.tm_year) else { return nil }
        return String(unsafeUninitializedCapacity: 24) { bytes in
            var count = 0
            func put(_ byte: UInt8) {
                bytes[count] = byte
                count += 1
            }
            func put(_ value: Int32) {
                put(UInt8(48 + value / 10))
                put(UInt8(48 + value % 10))
            }
            let year = parts.tm_year + 1900
            put(year / 100)
            put(year % 100)
            put(UInt8(ascii: "-"))
            put(parts.tm_mon + 1)
            put(UInt8(ascii: "-"))
            put(parts.tm_mday)
            put(UInt8(ascii: separator))
            put(parts.tm_hour)
            put(UInt8(ascii: ":"))
            put(parts.tm_min)
            put(UInt8(ascii: ":"))
            put(parts.tm_sec)
            end.utf8.forEach(put)
            return count
        }
    }
}
