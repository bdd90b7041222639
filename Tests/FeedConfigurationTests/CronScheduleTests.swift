import Foundation
import Testing
@testable import FeedConfiguration

/// Times of cron by the clocks of time zones, without an engine.
@Suite struct CronScheduleTests {
    private func schedule(_ text: String, _ zone: String = "UTC") throws -> CronSchedule {
        let zone = try TimeZoneFolder(environment: [:]).zone(zone)
        return CronSchedule(text, timeZone: zone.name, fields: try CronFields(text), zone: zone.rules)
    }

    private func date(_ text: String) throws -> Date {
        try Date(text, strategy: Date.ISO8601FormatStyle())
    }

    /// Returns the next times after a moment, in UTC.
    private func times(_ schedule: CronSchedule, after start: String, _ count: Int) throws -> [String] {
        var times: [String] = []
        var date = try date(start)
        for _ in 0..<count {
            date = schedule.next(after: date)
            times.append(date.formatted(Date.ISO8601FormatStyle()))
        }
        return times
    }

    @Test(arguments: [
        ("*/15 * * * *", "2026-11-22T10:07:30Z", ["2026-11-22T10:15:00Z", "2026-11-22T10:30:00Z"]),
        ("0 6 * * 1-5", "2026-11-20T06:00:00Z", ["2026-11-23T06:00:00Z", "2026-11-24T06:00:00Z"]),
        ("0 6 * * MON-fri", "2026-11-20T06:00:00Z", ["2026-11-23T06:00:00Z"]),
        ("5,10-14/2 0 * * *", "2026-01-01T00:05:00Z", ["2026-01-01T00:10:00Z", "2026-01-01T00:12:00Z"]),
        // Seven is Sunday, and so is zero.
        ("0 0 * * 7", "2026-11-20T00:00:00Z", ["2026-11-22T00:00:00Z", "2026-11-29T00:00:00Z"]),
        ("0 0 * * sat-sun", "2026-11-20T00:00:00Z", ["2026-11-21T00:00:00Z", "2026-11-22T00:00:00Z"]),
        // Both days are restricted: either will do. 13 November 2026 is a Friday.
        ("0 0 13 * 5", "2026-11-07T00:00:00Z", ["2026-11-13T00:00:00Z", "2026-11-20T00:00:00Z"]),
        ("0 0 13 * 0", "2026-11-09T00:00:00Z", ["2026-11-13T00:00:00Z", "2026-11-15T00:00:00Z"]),
        // A field that begins with an asterisk restricts nothing by itself: both must match.
        ("0 0 */2 * 1", "2026-11-22T00:00:00Z", ["2026-11-23T00:00:00Z", "2026-12-07T00:00:00Z"]),
        ("0 0 29 2 *", "2097-01-01T00:00:00Z", ["2104-02-29T00:00:00Z"]),
        ("0 0 29 feb */7", "2026-01-01T00:00:00Z", ["2032-02-29T00:00:00Z"]),
        ("30 12 31 * *", "2026-04-01T00:00:00Z", ["2026-05-31T12:30:00Z", "2026-07-31T12:30:00Z"]),
        ("@hourly", "2026-11-22T10:00:00Z", ["2026-11-22T11:00:00Z"]),
        ("@daily", "2026-12-31T10:00:00Z", ["2027-01-01T00:00:00Z"]),
        ("@weekly", "2026-11-22T00:00:00Z", ["2026-11-29T00:00:00Z"]),
        ("@monthly", "2026-11-22T00:00:00Z", ["2026-12-01T00:00:00Z"]),
        ("@yearly", "2026-11-22T00:00:00Z", ["2027-01-01T00:00:00Z"]),
    ])
    func timesInUTC(text: String, start: String, expected: [String]) throws {
        #expect(try times(schedule(text), after: start, expected.count) == expected)
    }

    @Test(arguments: [
        ("0 6 * *", "five fields"), ("0 0 6 * * *", "found 6"), ("60 * * * *", "expected 0 to 59"),
        ("* 24 * * *", "expected 0 to 23"), ("* * 0 * *", "expected 1 to 31"), ("* * * 13 *", "or jan to dec"),
        ("* * * * 8", "or sun to sat"), ("*/0 * * * *", "a step is a number above 0"),
        ("5/10 * * * *", "write 5-59/10"), ("* * * * 5-1", "it runs backwards; write 5-7,0-1"),
        ("1,,2 * * * *", "not a valid minute"),
        ("0 0 30 2 *", "no year has such a day"), ("0 0 31 4,6,9,11 *", "no year has such a day"),
        ("@fortnightly", "none of @annually"), ("1- * * * *", "expected 0 to 59"), ("+1 * * * *", "expected 0 to 59"),
    ])
    func aMistakeSaysWhatToWrite(text: String, expected: String) {
        #expect {
            try schedule(text)
        } throws: { error in
            "\(error)".contains(expected)
        }
    }

    @Test(arguments: [
        // Berlin skips 02:00 to 03:00 on 28 March 2027: what falls into it runs at its end, once.
        (
            "Europe/Berlin", "30 2 * * *", "2027-03-27T00:00:00Z",
            ["2027-03-27T01:30:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:30:00Z"]
        ),
        (
            "Europe/Berlin", "*/20 2 * * *", "2027-03-27T01:30:00Z",
            ["2027-03-27T01:40:00Z", "2027-03-28T01:00:00Z", "2027-03-29T00:00:00Z"]
        ),
        ("Europe/Berlin", "0 * * * *", "2027-03-28T00:00:00Z", ["2027-03-28T01:00:00Z", "2027-03-28T02:00:00Z"]),
        // An hour that the clocks skip is no hour of "every hour": nothing is made up for.
        ("Europe/Berlin", "30 * * * *", "2027-03-28T00:00:00Z", ["2027-03-28T00:30:00Z", "2027-03-28T01:30:00Z"]),
        ("Europe/Berlin", "30 */1 * * *", "2070-03-30T00:00:00Z", ["2070-03-30T00:30:00Z", "2070-03-30T01:30:00Z"]),
        // It shows 02:00 to 03:00 twice on 31 October 2027: the first of the two counts where minute and hour are fixed.
        ("Europe/Berlin", "30 2 * * *", "2027-10-30T12:00:00Z", ["2027-10-31T00:30:00Z", "2027-11-01T01:30:00Z"]),
        (
            "Europe/Berlin", "0,30 2 * * *", "2027-10-30T23:45:00Z",
            ["2027-10-31T00:00:00Z", "2027-10-31T00:30:00Z", "2027-11-01T01:00:00Z"]
        ),
        // A field that begins with an asterisk goes by the time that passes (cron(8)).
        (
            "Europe/Berlin", "*/30 * * * *", "2027-10-30T23:45:00Z",
            [
                "2027-10-31T00:00:00Z", "2027-10-31T00:30:00Z", "2027-10-31T01:00:00Z", "2027-10-31T01:30:00Z",
                "2027-10-31T02:00:00Z",
            ]
        ),
        ("Europe/Berlin", "*/30 * * * *", "2027-10-31T01:15:00Z", ["2027-10-31T01:30:00Z", "2027-10-31T02:00:00Z"]),
        (
            "Europe/Berlin", "0 * * * *", "2027-10-30T23:30:00Z",
            ["2027-10-31T00:00:00Z", "2027-10-31T01:00:00Z", "2027-10-31T02:00:00Z"]
        ),
        ("Europe/Berlin", "@hourly", "2070-10-26T00:00:00Z", ["2070-10-26T01:00:00Z", "2070-10-26T02:00:00Z"]),
        (
            "Europe/Berlin", "*/30 2 * * *", "2027-10-31T00:00:00Z",
            ["2027-10-31T00:30:00Z", "2027-10-31T01:00:00Z", "2027-10-31T01:30:00Z", "2027-11-01T01:00:00Z"]
        ),
        (
            "America/New_York", "*/15 * * * *", "2027-11-07T05:35:00Z",
            ["2027-11-07T05:45:00Z", "2027-11-07T06:00:00Z", "2027-11-07T06:15:00Z"]
        ),
        ("Europe/Berlin", "* * 29 2 *", "2097-10-26T12:00:00Z", ["2104-02-28T23:00:00Z", "2104-02-28T23:01:00Z"]),
        // After the last transition that the file lists, its rule for later years holds.
        ("Europe/Berlin", "0 6 * * *", "2070-07-01T00:00:00Z", ["2070-07-01T04:00:00Z"]),
        ("Europe/Berlin", "30 2 * * *", "2070-03-29T12:00:00Z", ["2070-03-30T01:00:00Z"]),
        // Lord Howe moves by thirty minutes: 02:00 to 02:30 is skipped on 3 October 2027, in the southern spring.
        (
            "Australia/Lord_Howe", "15 2 * * *", "2027-10-01T20:00:00Z",
            ["2027-10-02T15:30:00Z", "2027-10-03T15:15:00Z"]
        ),
        ("Australia/Lord_Howe", "45 2 * * *", "2027-10-02T12:00:00Z", ["2027-10-02T15:45:00Z"]),
        // And 01:30 to 02:00 comes twice on 4 April 2027.
        (
            "Australia/Lord_Howe", "45 1 * * *", "2027-04-03T12:00:00Z",
            ["2027-04-03T14:45:00Z", "2027-04-04T15:15:00Z"]
        ),
        ("Australia/Lord_Howe", "0 2 * * *", "2027-04-03T12:00:00Z", ["2027-04-03T15:30:00Z"]),
        (
            "Australia/Lord_Howe", "*/15 * * * *", "2027-04-03T14:30:00Z",
            ["2027-04-03T14:45:00Z", "2027-04-03T15:00:00Z", "2027-04-03T15:15:00Z", "2027-04-03T15:30:00Z"]
        ),
        // Apia had no 30 December 2011: what falls on it runs when the 31st begins, once.
        (
            "Pacific/Apia", "0 6 * * *", "2011-12-29T12:00:00Z",
            ["2011-12-29T16:00:00Z", "2011-12-30T10:00:00Z", "2011-12-30T16:00:00Z", "2011-12-31T16:00:00Z"]
        ),
        ("Pacific/Apia", "0 6 30 * *", "2011-12-01T00:00:00Z", ["2011-12-30T10:00:00Z", "2012-01-29T16:00:00Z"]),
        ("Pacific/Apia", "0 */8 * * *", "2011-12-30T05:00:00Z", ["2011-12-30T10:00:00Z", "2011-12-30T18:00:00Z"]),
    ])
    func clocksThatAreSet(zone: String, text: String, start: String, expected: [String]) throws {
        #expect(try times(schedule(text, zone), after: start, expected.count) == expected)
    }

    /// Whatever the zone does, "every quarter" and "every hour" never pause for longer. All these zones are whole quarters
    /// of an hour from UTC.
    @Test(arguments: [
        "Europe/Berlin", "Australia/Lord_Howe", "America/New_York", "Asia/Kolkata", "Europe/Dublin", "Pacific/Chatham",
        "America/St_Johns", "Africa/Casablanca", "America/Sao_Paulo", "UTC",
    ])
    func wildcardsNeverPause(zone: String) throws {
        for (text, most) in [("*/15 * * * *", 900.0), ("0 * * * *", 3600)] {
            let schedule = try schedule(text, zone)
            var date = try date("2027-01-01T00:00:00Z")
            let end = try self.date("2028-01-01T00:00:00Z")
            while date < end {
                let next = schedule.next(after: date)
                let isHalfHour = zone == "Australia/Lord_Howe" && next.timeIntervalSince(date) <= most + 1800
                #expect(next > date && (next.timeIntervalSince(date) <= most || isHalfHour), "\(text) after \(date)")
                date = next
            }
        }
    }

    /// Foundation has time zones of its own, where it is not linked statically.
    @Test(arguments: [
        "Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/New_York", "Asia/Kolkata", "Europe/Dublin",
        "America/Sao_Paulo", "Pacific/Chatham", "Asia/Tehran",
    ])
    func offsetsAreThoseOfFoundation(name: String) throws {
        let rules = try TimeZoneFolder(environment: [:]).zone(name).rules
        let zone = try #require(TimeZone(identifier: name))
        // From 1970 to 2096.
        let different = stride(from: 0, to: 4_000_000_000, by: 86_400 * 2 + 3_600).filter { moment in
            rules.offset(at: moment) != zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(moment)))
        }
        #expect(different.isEmpty)
    }

    @Test(arguments: [
        "", "CET", "CET-1", "CET-1CEST", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.5.7,M10.5.0",
        "1", "<+10-10", "CET-1CEST,M3.5.0/,M10.5.0", "CET-99999", "CET-1CEST,J0,J365",
    ])
    func rulesOfLaterYearsAreReadStrictly(text: String) {
        #expect((RepeatedZone(text) != nil) == (text == "CET-1"))
    }

    @Test func rulesOfLaterYearsInEachForm() throws {
        func offsets(_ text: String, _ moments: String...) throws -> [Int] {
            let rule = try #require(RepeatedZone(text))
            return try moments.map { rule.offset(at: Int(try date($0).timeIntervalSince1970)) }
        }
        let berlin = ["2070-03-30T00:59:59Z", "2070-03-30T01:00:00Z", "2070-10-26T00:59:59Z", "2070-10-26T01:00:00Z"]
        #expect(
            try offsets("CET-1CEST,M3.5.0,M10.5.0/3", berlin[0], berlin[1], berlin[2], berlin[3])
                == [3600, 7200, 7200, 3600])
        // 30 March and 26 October, counted without and with the leap day of 2072.
        #expect(try offsets("A0B,J89/1,J299/1", "2072-03-30T00:30:00Z", "2072-03-30T01:00:00Z") == [0, 3600])
        #expect(try offsets("A0B,89/1,299/1", "2072-03-30T00:30:00Z", "2072-03-30T01:00:00Z") == [0, 3600])
        // Half an hour, and times below zero and above a day, as in Greenland and Jerusalem.
        #expect(
            try offsets("<+1030>-10:30<+11>-11,M10.1.0,M4.1.0", "2072-07-01T00:00:00Z", "2072-12-01T00:00:00Z")
                == [37_800, 39_600])
        #expect(
            try offsets("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2072-03-27T00:59:59Z", "2072-03-27T01:00:00Z") == [
                -7200, -3600,
            ])
        #expect(
            try offsets("IST-2IDT,M3.4.4/26,M10.5.0", "2072-03-24T23:59:59Z", "2072-03-25T00:00:00Z") == [7200, 10_800])
    }
}
