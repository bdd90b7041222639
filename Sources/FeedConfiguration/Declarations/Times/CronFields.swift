package import FeedModel
import XMLStream

/// The five fields of a line of cron (crontab(5)): the minutes, by a clock on the wall, at which something is done.
package struct CronFields: Sendable, Hashable {
    private var minutes: UInt64
    private var hours: UInt64
    private var days: UInt64
    private var months: UInt64
    /// Bit 0 is Sunday.
    private var weekdays: UInt64
    /// True if a day counts if either field names it: both are restricted.
    private var eitherDay: Bool
    /// True if the hour begins with an asterisk: hours that the clocks skip are not made up for.
    let anyHour: Bool
    /// True if the minute or the hour begins with an asterisk: a time that the clocks show twice is meant twice
    /// (cron(8)).
    let isRepeated: Bool

    /// What `@daily` and the like stand for.
    private static let names = [
        "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
        "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
    ]

    /// - Throws: ``Finding``.
    package init(_ text: String) throws(Finding) {
        var line = text
        if text.hasPrefix("@") {
            guard let fields = Self.names[text.lowercased()] else {
                throw Finding(
                    "'\(text)' is none of \(Self.names.keys.sorted().joined(separator: ", "))")
            }
            line = fields
        }
        let fields = line.split(whereSeparator: \.isWhitespace)
        guard fields.count == 5 else {
            throw Finding(
                "a schedule has five fields (minute, hour, day of the month, month, day of the week), such as "
                    + "\"0 6 * * 1-5\"; found \(fields.count)")
        }
        minutes = try CronField.minute.bits(fields[0])
        hours = try CronField.hour.bits(fields[1])
        days = try CronField.day.bits(fields[2])
        months = try CronField.month.bits(fields[3])
        weekdays = try CronField.weekday.bits(fields[4])
        if weekdays & 1 << 7 != 0 { weekdays = weekdays & ~(1 << 7) | 1 }
        anyHour = fields[1].hasPrefix("*")
        isRepeated = anyHour || fields[0].hasPrefix("*")
        eitherDay = !fields[2].hasPrefix("*") && !fields[4].hasPrefix("*")
        // No 29 February of a given weekday is further than forty years from the one before.
        guard next(from: 0) != nil else {
            throw Finding("no year has such a day, so this would never run")
        }
    }

    /// The most days that are looked at; some of them stand for a whole month.
    private static let mostDays = 41 * 366

    /// Returns the first minute that matches, at this one or later; nil if none does. Minutes are counted from the
    /// beginning of 1970, by the clock on the wall.
    package func next(from minute: Int) -> Int? {
        var (day, ofDay) = minute.quotientAndRemainder(flooringBy: 1440)
        for _ in 0..<Self.mostDays {
            let date = CivilDate(daysSince1970: day)
            if months & 1 << date.month == 0 {
                // The first of the next month.
                day += 32 - date.day
                day -= CivilDate(daysSince1970: day).day - 1
            } else if matches(date, day), let time = time(from: ofDay) {
                return day * 1440 + time
            } else {
                day += 1
            }
            ofDay = 0
        }
        return nil
    }

    private func matches(_ date: CivilDate, _ day: Int) -> Bool {
        // 1 January 1970 was a Thursday.
        let weekday = (day + 4).quotientAndRemainder(flooringBy: 7).remainder
        let isDay = days & 1 << date.day != 0
        let isWeekday = weekdays & 1 << weekday != 0
        return eitherDay ? isDay || isWeekday : isDay && isWeekday
    }

    /// Returns the first minute of a day that matches, at this one or later.
    private func time(from minute: Int) -> Int? {
        for hour in (minute / 60)..<24 where hours & 1 << hour != 0 {
            let least = hour == minute / 60 ? minute % 60 : 0
            if let found = (least..<60).first(where: { minutes & 1 << $0 != 0 }) { return hour * 60 + found }
        }
        return nil
    }
}
