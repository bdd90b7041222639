import Foundation
import Testing
@testable import XMLStream

/// Times far away neither trap nor become other times: with a year before 0 or after 9999 they are none.
@Suite struct DateRangeTests {
    private func date(_ text: String, _ format: String? = nil) -> Date? {
        var text = text
        return text.withUTF8 { bytes in
            format.map { DateFormat($0)?.date(bytes) } ?? Lexical.date(bytes)
        }
    }

    @Test(arguments: [
        "9223372036854775807", "-9223372036854775808", "99999999999999999999999999999999", "253402300800",
        "-62167219201", String(repeating: "9", count: 400), "-", "1-2", "",
    ])
    func secondsThatAreNoTime(text: String) {
        #expect(date(text, "%s") == nil)
    }

    @Test func theFirstAndTheLastSecond() throws {
        let first = try #require(date("-62167219200", "%s"))
        let last = try #require(date("253402300799", "%s"))
        #expect(Lexical.iso8601(first) == "0000-01-01T00:00:00Z" && Lexical.day(first) == "0000-01-01")
        #expect(Lexical.iso8601(last) == "9999-12-31T23:59:59Z" && Lexical.day(last) == "9999-12-31")
        #expect(DateFormat("%s")?.text(first) == "-62167219200")
        #expect(DateFormat("%Y-%m-%dT%H:%M:%SZ")?.text(last) == "9999-12-31T23:59:59Z")
        #expect(DateFormat("%s")?.text(Date(timeIntervalSince1970: -0.5)) == "-1")
    }

    @Test(arguments: ["9999-12-31T23:59:59-18:00", "0000-01-01T00:00:00+01:00", "9999-12-31T24:00:00Z"])
    func zonesThatLeadOutOfTheCalendar(text: String) {
        #expect(date(text) == nil)
    }

    @Test func formatsThatLeadOutOfTheCalendar() {
        #expect(date("9999-12-31 23:59 -9999", "%Y-%m-%d %H:%M %z") == nil)
        #expect(date("0000-01-01 00:00 +0100", "%Y-%m-%d %H:%M %z") == nil)
    }

    /// A format has the ranges of a date without one (DateScanner).
    @Test(arguments: [
        ("2026-11-21 08:30 +9999", "%Y-%m-%d %H:%M %z"), ("2026-11-21 08:30 +1900", "%Y-%m-%d %H:%M %z"),
        ("2026-11-21 08:30 +01:5", "%Y-%m-%d %H:%M %z"), ("2026-11-21 24:00 +0100", "%Y-%m-%d %H:%M %z"),
        ("2026-11-21 08:30 -0160", "%Y-%m-%d %H:%M %z"), ("2026-11-21 08:30 +01:99", "yyyy-MM-dd HH:mm XXX"),
        ("2026-11-21 00:30 AM", "%Y-%m-%d %I:%M %p"), ("2026-11-21 13:30 PM", "yyyy-MM-dd hh:mm a"),
    ])
    func offsetsAndHoursOutOfRange(text: String, format: String) {
        #expect(date(text, format) == nil)
        #expect(DateFormat(format) != nil)
    }

    @Test func offsetsAndHoursInRange() throws {
        let eastern = try #require(date("2026-11-21 08:30 +1800", "%Y-%m-%d %H:%M %z"))
        #expect(Lexical.iso8601(eastern) == "2026-11-20T14:30:00Z")
        let midnight = try #require(date("2026-11-21 12:30 am", "%Y-%m-%d %I:%M %p"))
        #expect(Lexical.iso8601(midnight) == "2026-11-21T00:30:00Z")
        for format in ["%Y-%m-%d %I:%M", "yyyy-MM-dd hh:mm"] { #expect(DateFormat(format) == nil) }
    }

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300, 9e18, -9e18])
    func noTimeTraps(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(!Lexical.isWritable(date))
        #expect(Lexical.iso8601(date).count >= 20 && Lexical.day(date).count == 10)
        #expect(DateFormat("%Y %s")?.text(date).isEmpty == false)
    }
}
