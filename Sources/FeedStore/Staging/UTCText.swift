import Foundation

/// Dates as GRDB writes them, without a formatter: most dates of feeds are whole seconds, and there is one in many a row.
///
/// Nil for what is left to GRDB: fractions of seconds, and years in which calendars differ or have other than four digits.
enum UTCText {
    /// `2026-11-21T08:30:00Z`
    static func iso8601(_ date: Date) -> String? {
        text(of: date, separator: "T", end: "Z")
    }

    /// `2026-11-21 08:30:00.000`
    static func sqlite(_ date: Date) -> String? {
        text(of: date, separator: " ", end: ".000")
    }

    private static func text(of date: Date, separator: Unicode.Scalar, end: StaticString) -> String? {
        guard var seconds = time_t(exactly: date.timeIntervalSince1970) else { return nil }
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
            end.withUTF8Buffer { $0.forEach(put) }
            return count
        }
    }
}
