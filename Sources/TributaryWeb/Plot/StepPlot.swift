import FeedModel
import FeedStores
import Foundation

/// A number of a row over time as an SVG image: a line that keeps each value until the next one.
struct StepPlot {
    struct Point {
        let time: Date
        let value: Double
    }

    private static let (width, height, left, top) = (720.0, 120.0, 84.0, 12.0)
    private static let bottom = 24.0

    /// The values, the oldest first.
    let points: [Point]

    /// Takes the values of a column from a row's changes; nil where it had no two different ones.
    ///
    /// - Parameters:
    ///   - history: the changes, the latest first.
    ///   - isDecimal: true where texts are numbers.
    init?(_ column: String, _ history: [RowChange], isDecimal: Bool) {
        func number(_ values: RowChange.Values?) -> Double? {
            switch values?.first(where: { $0.column == column })?.value {
            case .integer(let number)?: Double(number)
            case .real(let number)? where number.isFinite: number
            case .text(let text)? where isDecimal: Double(text).flatMap { $0.isFinite ? $0 : nil }
            default: nil
            }
        }
        points = history.reversed().flatMap { change in
            [number(change.old), number(change.new)].compactMap { value in
                value.map { Point(time: change.startedAt, value: $0) }
            }
        }
        guard Set(points.map(\.value)).count > 1 else { return nil }
    }

    /// - Parameters:
    ///   - id: the element that names the image.
    ///   - now: where the line ends.
    func svg(named id: String, now: Date) -> String {
        guard let first = points.first, let last = points.last else { return "" }
        let values = points.map(\.value)
        let (least, most) = (values.min() ?? 0, values.max() ?? 0)
        let seconds = max(now.timeIntervalSince(first.time), 1)
        let plot = Self.height - Self.top - Self.bottom
        func x(_ time: Date) -> String {
            let share = min(max(time.timeIntervalSince(first.time) / seconds, 0), 1)
            return Self.short(Self.left + (Self.width - Self.left) * share)
        }
        // Halved, as the difference of two large numbers may be infinite.
        func y(_ value: Double) -> String {
            Self.short(Self.top + plot * (1 - (value / 2 - least / 2) / (most / 2 - least / 2)))
        }
        let steps = points.dropFirst().map { "H\(x($0.time))V\(y($0.value))" }.joined()
        func label(_ text: String, _ x: Double, _ y: String, _ anchor: String) -> String {
            """
            <text class="label" x="\(Self.short(x))" y="\(y)" text-anchor="\(anchor)" dominant-baseline="middle">\(text)</text>
            """
        }
        let foot = Self.short(Self.height - 8)
        return """
            <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" aria-labelledby="\(id)">\
            <path class="step" d="M\(x(first.time)) \(y(first.value))\(steps)H\(x(max(now, last.time)))"/>\
            \(label(Self.text(most), Self.left - 6, y(most), "end"))\(label(Self.text(least), Self.left - 6, y(least), "end"))\
            \(label(TimeView(first.time).text, Self.left, foot, "start"))\(label("now", Self.width, foot, "end"))</svg>
            """
    }

    private static func text(_ value: Double) -> String {
        value.formatted(.number.precision(.significantDigits(1...6)).locale(Locale(identifier: "en_US")))
    }

    private static func short(_ value: Double) -> String { String((value * 10).rounded() / 10) }
}
