import Foundation
import Testing

@testable import TributaryWeb

/// The line of time for what is due.
@Suite struct DueLineTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func sourcesThatAreDueAlreadyAreInTheFirstMinute() {
        let svg = DueLine([now - 86_400, now, now + 59, now + 60, now + 3_600], now: now).svg
        #expect(svg.components(separatedBy: "<rect class=\"due\"").count == 4)
        #expect(svg.contains("<title>2027-01-15 08:00 UTC: 3 sources</title>"))
        #expect(svg.contains("<title>2027-01-15 08:01 UTC: 1 source</title>"))
        #expect(svg.contains("<title>2027-01-15 08:59 UTC: 1 source</title>"))
        #expect(svg.contains("next 60 minutes: 3 at most"))
        #expect(svg.contains("data-time=\"2027-01-15T08:15:00Z\" data-form=\"time\">08:15</text>"))
    }

    @Test func minutesAreThoseOfTheClock() {
        let svg = DueLine([now + 61], now: now + 51).svg
        #expect(svg.contains("<title>2027-01-15 08:01 UTC: 1 source</title>"))
        #expect(svg == DueLine([now + 61], now: now + 55).svg)
    }

    @Test func anHourInWhichNothingIsDueHasNoBars() {
        #expect(!DueLine([], now: now).svg.contains("class=\"due\""))
    }
}
