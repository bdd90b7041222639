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

    @Test(arguments: [Double.infinity, -.infinity, .nan, 1e300, -1e300, 9e18, -9e18])
    func noTimeTraps(seconds: Double) {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(!Lexical.isWritable(date))
        #expect(Lexical.iso8601(date).count >= 20 && Lexical.day(date).count == 10)
        #expect(DateFormat("%Y %s")?.text(date).isEmpty == false)
    }
}
