package import Foundation
import XMLStream

/// The times at which a source is run: the five fields of cron, in a time zone.
///
/// A time that the clock on the wall skips is the moment after the gap, and one that it shows twice is the first of
/// the two. So each runs once, as does each that comes to the same moment.
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

    /// Returns true where a date is one of the times.
    package func has(_ date: Date) -> Bool { next(after: date - 1) == date }
}
