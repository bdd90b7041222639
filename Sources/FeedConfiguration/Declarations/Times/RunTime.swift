package import FeedModel
package import Foundation
import XMLStream

/// What `${now:FORMAT}` and `${now:FORMAT,OFFSET}` stand for: the time of a run, written in a form, as the clocks of a zone
/// show it.
package struct RunTime: Sendable, Hashable {
    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]

    /// The furthest offset: 100 years.
    private static let furthest = 36_525 * 86_400

    private let format: DateFormat
    /// In seconds.
    private var offset = 0
    private var isOfCalendar = false

    /// - Parameter text: the text after `now:`. What follows its last comma is an offset where it begins with a sign or a digit.
    package init(_ text: String) throws(Finding) {
        var pattern = text[...]
        if let comma = text.lastIndex(of: ",") {
            let rest = text[text.index(after: comma)...].drop { $0 == " " }
            if let first = rest.first, "+-0123456789".contains(first) {
                (offset, isOfCalendar) = try Self.offset(rest)
                pattern = text[..<comma]
            }
        }
        do {
            format = try DateFormat(writing: String(pattern))
        } catch {
            throw Finding("\(error)")
        }
        guard !format.isConstant else {
            throw Finding("it has no letter of a date", help: "write a format such as ${now:yyyy-MM-dd}")
        }
    }

    private static func offset(_ text: Substring) throws(Finding) -> (seconds: Int, isOfCalendar: Bool) {
        let digits = text.dropFirst().prefix { $0.isASCII && $0.isNumber }
        let rest = text.dropFirst(1 + digits.count)
        guard let sign = text.first, "+-".contains(sign), let count = Int(digits), rest.count == 1,
            let unit = rest.first, let seconds = units[unit], count <= furthest / seconds
        else {
            throw Finding(
                "'\(text)' is not an offset",
                help: "write a sign, a number and s, m, h, d or w, as in -1d or "
                    + "+12h, of at most 36525d")
        }
        // An offset of days moves the clocks' hands, and not the instant: a day has 23, 24 or 25 hours.
        return ((sign == "-" ? -1 : 1) * count * seconds, "dw".contains(unit))
    }

    /// Returns the text for a moment.
    ///
    /// - Parameter zone: the zone whose clocks are read. An offset in days or weeks keeps their time of day; where they
    ///   skip it, the time moves forward, as they do.
    package func text(at moment: Date, in zone: TimeZoneRules) -> String {
        let now = Int(moment.timeIntervalSince1970.rounded(.down))
        let then = isOfCalendar ? zone.instant(ofWritten: now + zone.offset(at: now) + offset) : now + offset
        return format.text(moment.addingTimeInterval(Double(then - now)), offset: zone.offset(at: then))
    }
}
