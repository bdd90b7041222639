import FeedModel
import FeedStores
import Foundation

/// A number over time as an SVG image: a line that keeps each value until the next one, and ends where there is none.
struct StepPlot {
    struct Point {
        let time: Date
        /// Nil where there is no number from this time on.
        let value: Double?
    }

    private static let (width, height, top, bottom) = (720.0, 120.0, 12.0, 24.0)
    /// The room for the labels of the values, such as `-9,999,999`.
    private static let left = 124.0

    /// The values, the oldest first.
    private let points: [Point]
    /// The value at the foot of the plot; nil for the least one.
    private let foot: Double?
    /// Returns a value in words.
    private let text: @Sendable (Double) -> String

    /// - Parameters:
    ///   - points: the values, the oldest first.
    ///   - foot: the value at the foot of the plot; nil for the least one.
    ///   - text: returns a value in words of about ten characters.
    init(_ points: [Point], from foot: Double?, _ text: @escaping @Sendable (Double) -> String) {
        (self.points, self.foot, self.text) = (points, foot, text)
    }

    /// Takes the values of a column from a row's changes; nil where it had no two different ones.
    ///
    /// - Parameters:
    ///   - column: the name in lower case.
    ///   - history: the changes, the latest first.
    ///   - isDecimal: true where texts are numbers.
    init?(_ column: String, _ history: [RowChange], isDecimal: Bool) {
        func number(_ value: StoredValue) -> Double? {
            switch value {
            case .integer(let number): Double(number)
            case .real(let number) where number.isFinite: number
            case .text(let text) where isDecimal: Double(text).flatMap { $0.isFinite ? $0 : nil }
            default: nil
            }
        }
        /// Returns nil where the values do not have the column.
        func point(_ values: RowChange.Values, _ time: Date) -> Point? {
            values.first { $0.column.lowercased() == column }.map { Point(time: time, value: number($0.value)) }
        }
        let points = history.reversed().flatMap { change in
            let time = change.startedAt
            let end = change.operation == "delete" ? Point(time: time, value: nil) : nil
            return [change.old.flatMap { point($0, time) }, change.new.flatMap { point($0, time) } ?? end]
                .compactMap(\.self)
        }
        guard Set(points.compactMap(\.value)).count > 1 else { return nil }
        self.init(points, from: nil, Self.text)
    }

    /// - Parameters:
    ///   - id: the element that names the image.
    ///   - now: where the plot ends.
    func svg(named id: String, now: Date) -> String {
        let values = points.compactMap(\.value)
        guard let start = points.first?.time, let least = foot ?? values.min(), let most = values.max() else {
            return ""
        }
        let seconds = max(now.timeIntervalSince(start), 1)
        let plot = Self.height - Self.top - Self.bottom
        func x(_ time: Date) -> String {
            let share = min(max(time.timeIntervalSince(start) / seconds, 0), 1)
            return SVG.number(Self.left + (Self.width - Self.left) * share)
        }
        // Halved, as the difference of two large numbers may be infinite.
        let range = most / 2 - least / 2
        func y(_ value: Double) -> Double {
            Self.top + plot * (range > 0 ? 1 - (value / 2 - least / 2) / range : 1)
        }
        var (path, isDrawn) = ("", false)
        for point in points {
            let (x, y) = (x(point.time), point.value.map { SVG.number(y($0)) })
            path += isDrawn ? "H\(x)" + (y.map { "V" + $0 } ?? "") : y.map { "M\(x) \($0)" } ?? ""
            isDrawn = y != nil
        }
        if isDrawn { path += "H\(x(now))" }
        let foot = Self.height - 8
        let labels = Set([least, most]).sorted().map {
            SVG.label(text($0), x: Self.left - 6, y: y($0), anchor: "end", isCentred: true)
        }
        return SVG.image(
            Self.width, Self.height, labelledBy: id,
            "<path class=\"step\" d=\"\(path)\"/>" + labels.joined()
                + SVG.label(TimeView(start).text, x: Self.left, y: foot, isCentred: true)
                + SVG.label("now", x: Self.width, y: foot, anchor: "end", isCentred: true))
    }

    /// Returns a number in at most ten characters.
    static func text(_ value: Double) -> String {
        let style = FloatingPointFormatStyle<Double>.number.locale(Locale(identifier: "en_US"))
        let isPlain = value == 0 || (0.000_1..<10_000_000).contains(abs(value))
        return value.formatted(
            isPlain
                ? style.precision(.significantDigits(1...(abs(value) < 1 ? 4 : 7)))
                : style.notation(.scientific).precision(.significantDigits(1...4)))
    }
}
