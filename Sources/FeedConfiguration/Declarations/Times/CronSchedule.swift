package import Foundation
import XMLStream

/// The times at which a source is run: the five fields of cron, in a time zone.
///
/// Where minute and hour are fixed, a time that the clock on the wall skips is the moment after the gap, and one that it shows
/// twice is the first of the two, so that each runs once. Where minute or hour begins with an asterisk, the time that passes
/// counts (cron(8)): a time that is shown twice runs twice, and an hour that is skipped is none of "every hour".
public struct CronSchedule: Sendable, Hashable {
    /// The fields, as written.
    public var text: String
    /// The name of the time zone, such as `Europe/Berlin`.
    public var timeZone: String
    private var fields: CronFields
    private var zone: TimeZoneRules

    package init(_ text: String, timeZone: String, fields: CronFields, zone: TimeZoneRules) {
        self.text = text
        self.timeZone = timeZone
        self.fields = fields
        self.zone = zone
    }

    /// Returns the same times by the clocks of another time zone.
    package func moved(to timeZone: String, _ zone: TimeZoneRules) -> CronSchedule {
        CronSchedule(text, timeZone: timeZone, fields: fields, zone: zone)
    }

    /// A text that changes when the times do.
    var identity: String { "\(text) \(timeZone)" }

    /// Returns the first time that is later than a date.
    package func next(after date: Date) -> Date {
        // Far from any overflow; the years 1600 and 9999.
        let after = Int(min(max(date.timeIntervalSince1970, -1e10), 2.5e11).rounded(.down))
        if fields.isRepeated { return repeated(after: after) }
        // The clock on the wall shows no time twice before it has shown the one now: nothing earlier can be to come.
        var minute = (after + zone.offset(at: after)).quotientAndRemainder(flooringBy: 60).quotient
        while let found = fields.next(from: minute) {
            let instant = zone.instant(ofLocal: found * 60)
            if instant > after { return Date(timeIntervalSince1970: Double(instant)) }
            // It has been shown before: for the first time of two, or as the end of a gap.
            minute = found + 1
        }
        return .distantFuture
    }

    /// Returns the first time after a moment, for a schedule that follows elapsed time.
    private func repeated(after: Int) -> Date {
        var start = after + 1
        var isFirst = true
        while true {
            let offset = zone.offset(at: start)
            guard let found = fields.next(from: (start + offset + 59).quotientAndRemainder(flooringBy: 60).quotient)
            else { return .distantFuture }
            let instant = found * 60 - offset
            guard let change = zone.change(after: start), change <= instant else {
                return Date(timeIntervalSince1970: Double(instant))
            }
            if !fields.anyHour, found * 60 < change + zone.offset(at: change) {
                // It is skipped.
                return Date(timeIntervalSince1970: Double(change))
            }
            // What this change repeats may match though it was shown before `after`. What a later one repeats, before the
            // time that was found, does not: no clock is set by as much as three days.
            start = isFirst ? change : max(change, instant - 3 * 86_400)
            isFirst = false
        }
    }

    /// Returns true if a date is one of the times.
    package func has(_ date: Date) -> Bool { next(after: date - 1) == date }
}
