import FeedModel
import Foundation
import TributaryEngine

/// Bars over a timeline, each of one or several values on top of one another, as an SVG image.
///
/// A span in which a run is missing is a gap, which is marked over the whole height. A bar that is far larger than the
/// others is cut, and has its value above it, so that the others can be seen. Below the axis, a mark stands for runs
/// that failed.
struct BarChart {
    /// The values of a span that stand on one another, by the names of their classes in `page.css`.
    private static let kinds: [(name: String, rows: @Sendable (RunFigures) -> Int)] = [
        ("inserted", \.inserted), ("updated", \.updated), ("deleted", \.deleted),
    ]

    let timeline: Timeline

    private static let width = 720.0
    private static let height = 180.0
    /// The room for the labels of the axes.
    private static let left = 84.0
    private static let bottom = 36.0
    private static let top = 22.0
    private static let plotHeight = height - top - bottom
    /// A bar is cut where it is more than this many times as large as nine of ten others.
    private static let mostTimes = 4.0

    private static func text(_ count: Double) -> String {
        switch count {
        case ..<10_000: String(Int(count.rounded()))
        case ..<999_500: String(Int((count / 1_000).rounded())) + "k"
        default: SVG.number(count / 1_000_000) + "M"
        }
    }

    private var step: Double { (Self.width - Self.left) / Double(timeline.count) }

    /// The greatest sum that is shown whole.
    private var greatest: Double {
        let sums = timeline.spans.compactMap { $0 }.map { Double($0.changedRows) }.filter { $0 > 0 }.sorted()
        guard let most = sums.last, sums.count > 1 else { return sums.last ?? 0 }
        let usual = sums[min((sums.count - 1) * 9 / 10, sums.count - 2)]
        return most > Self.mostTimes * usual ? usual * 1.25 : most
    }

    var svg: String {
        let scale = Self.scale(greatest)
        let gaps = timeline.gaps
        var body = axis(Self.top, Self.text(scale)) + axis(Self.top + Self.plotHeight, Self.text(0))
        for (index, figures) in timeline.spans.enumerated() {
            let x = Self.left + Double(index) * step
            if let figures {
                let bars = bars(figures, x, scale)
                if !bars.isEmpty { body += "<g><title>\(tip(index, figures))</title>\(bars)</g>" }
            } else if gaps.contains(index) {
                body += SVG.rect("gap", x: x, y: Self.top, width: step, height: Self.plotHeight)
            }
        }
        body = "<title id=\"rows-title\">\(summary)</title>" + body + times()
        return SVG.image(Self.width, Self.height, labelledBy: "rows-title", body)
    }

    private func axis(_ y: Double, _ text: String) -> String {
        let (left, right, height) = (SVG.number(Self.left), SVG.number(Self.width), SVG.number(y))
        return "<line class=\"axis\" x1=\"\(left)\" x2=\"\(right)\" y1=\"\(height)\" y2=\"\(height)\"/>"
            + SVG.label(text, x: Self.left - 6, y: y, anchor: "end", isCentred: true)
    }

    private func bars(_ figures: RunFigures, _ x: Double, _ scale: Double) -> String {
        let total = Double(figures.changedRows)
        let isCut = total > scale
        let end = Self.top + Self.plotHeight
        var sum = 0.0
        var bars = ""
        for kind in Self.kinds {
            // A cut bar keeps its proportions.
            let value = Double(kind.rows(figures)) * (isCut ? scale / total : 1)
            guard value > 0 else { continue }
            let height = max(Self.plotHeight * value / scale, 1)
            sum += value
            let y = min(end - Self.plotHeight * sum / scale, end - height)
            bars += SVG.rect(kind.name, x: x + step * 0.1, y: y, width: step * 0.8, height: height)
        }
        if isCut { bars += cut(x + step / 2, Self.text(total)) }
        if figures.failed > 0 {
            bars += SVG.rect("discarded", x: x + step * 0.1, y: end + 3, width: max(step * 0.8, 2), height: 6)
        }
        return bars
    }

    /// The mark of a bar that is cut, with its value.
    private func cut(_ x: Double, _ value: String) -> String {
        let place = min(max(x, Self.left + 20), Self.width - 20)
        return "<path class=\"cut\" d=\"M\(SVG.number(x - 6)) \(SVG.number(Self.top + 6))l12 -5m-12 10l12 -5\"/>"
            + SVG.label(value, x: place, y: Self.top - 6, anchor: "middle")
    }

    /// The text in place of the image, for screen readers.
    private var summary: String {
        let spans = timeline.spans.compactMap { $0 }
        guard !spans.isEmpty else { return "Rows changed: nothing ran" }
        let parts = Self.kinds.map { kind in
            "\(kind.name) \(Self.text(Double(spans.map(kind.rows).max() ?? 0))) at most"
        }
        let gaps = timeline.gaps.count
        let failed = spans.reduce(0) { $0 + $1.failed }
        return "Rows changed: " + parts.joined(separator: ", ")
            + "; \(gaps) of \(timeline.count) spans without a run, \(Figures.count(failed, "run")) failed"
    }

    private func tip(_ index: Int, _ figures: RunFigures) -> String {
        let start = TimeView(timeline.start(of: index)).text
        let values =
            Self.kinds.filter { $0.rows(figures) > 0 }.map { "\($0.name) \(Self.text(Double($0.rows(figures))))" }
            + (figures.failed > 0 ? ["\(figures.failed) failed"] : [])
        return "\(start), \(Figures.count(figures.runs, "run")): " + values.joined(separator: ", ")
    }

    private func times() -> String {
        let isLong = timeline.seconds * Double(timeline.count) > 3 * 86_400 || timeline.seconds >= 43_200
        // Labels of several days need the day.
        let isOneDay =
            (timeline.start.timeIntervalSince1970 / 86_400).rounded(.down)
            == ((timeline.start(of: timeline.count).timeIntervalSince1970 - 1) / 86_400).rounded(.down)
        let y = Self.height - 6
        let places = Set([0, timeline.count / 4, timeline.count / 2, timeline.count * 3 / 4])
        return places.sorted().reduce(SVG.label("now", x: Self.width, y: y, anchor: "end")) { labels, index in
            let iso = timeline.start(of: index).formatted(.iso8601)
            let (day, hour) = (iso.prefix(10).suffix(5), iso.prefix(16).suffix(5))
            let (form, text) =
                isLong ? ("day", "\(day)") : isOneDay ? ("time", "\(hour)") : ("both", "\(day) \(hour)")
            // Our script says the time in the reader's zone.
            return labels
                + SVG.label(
                    text, x: Self.left + Double(index) * step, y: y,
                    attributes: " data-time=\"\(iso)\" data-form=\"\(form)\"")
        }
    }

    /// Returns the least number of the form 1, 2 or 5 times a power of ten that is not below a value.
    static func scale(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return 1 }
        let power = pow(10, (log10(value)).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= value * (1 - 1e-9) } ?? 10 * power
    }
}
