import FeedModel
import Foundation
import TributaryEngine

/// Bars over a timeline, each of one or several values on top of one another, as an SVG image.
///
/// A span in which a run is missing is a gap, which is marked over the whole height. A bar that is far larger than the
/// others is cut, and has its value above it, so that the others can be seen. Below the axis, a mark stands for runs
/// that failed.
struct BarChart {
    /// A value of each span.
    struct Series {
        let name: String
        /// The name of a class of `page.css`.
        let kind: String
        let value: @Sendable (RunFigures) -> Double
    }

    let id: String
    let title: String
    let series: [Series]
    /// The value in words.
    let text: @Sendable (Double) -> String
    let timeline: Timeline

    private static let width = 720.0
    private static let height = 180.0
    /// The room for the labels of the axes.
    private static let left = 84.0
    private static let bottom = 36.0
    private static let top = 22.0
    /// A bar is cut where it is more than this many times as large as nine of ten others.
    private static let mostTimes = 4.0

    /// The rows that a source's runs have changed.
    static func changes(_ timeline: Timeline) -> BarChart {
        BarChart(
            id: "rows", title: "Rows changed",
            series: [
                Series(name: "inserted", kind: "inserted") { Double($0.inserted) },
                Series(name: "updated", kind: "updated") { Double($0.updated) },
                Series(name: "deleted", kind: "deleted") { Double($0.deleted) },
            ], text: count, timeline: timeline)
    }

    private static let count: @Sendable (Double) -> String = { value in
        switch value {
        case ..<10_000: String(Int(value.rounded()))
        case ..<999_500: String(Int((value / 1_000).rounded())) + "k"
        default: number(value / 1_000_000) + "M"
        }
    }

    private func sum(_ figures: RunFigures) -> Double { series.reduce(0) { $0 + $1.value(figures) } }

    /// The greatest sum that is shown whole.
    private var greatest: Double {
        let sums = timeline.spans.compactMap { $0 }.map(sum).filter { $0 > 0 }.sorted()
        guard let most = sums.last, sums.count > 1 else { return sums.last ?? 0 }
        let usual = sums[min((sums.count - 1) * 9 / 10, sums.count - 2)]
        return most > Self.mostTimes * usual ? usual * 1.25 : most
    }

    var svg: String {
        let scale = Self.scale(greatest)
        let plotHeight = Self.height - Self.top - Self.bottom
        let step = (Self.width - Self.left) / Double(timeline.count)
        func y(_ value: Double) -> Double { Self.top + plotHeight * (1 - value / scale) }
        var body = ""
        for (label, value) in [(text(scale), scale), (text(0), 0)] {
            let height = Self.number(y(value))
            body += """
                <line class="axis" x1="\(Self.number(Self.left))" x2="\(Self.number(Self.width))" y1="\(height)" y2="\(height)"/>\
                <text class="label" x="\(Self.number(Self.left - 6))" y="\(height)" text-anchor="end" \
                dominant-baseline="middle">\(label)</text>
                """
        }
        let gaps = timeline.gaps
        for (index, figures) in timeline.spans.enumerated() {
            let x = Self.left + Double(index) * step
            guard let figures else {
                guard gaps.contains(index) else { continue }
                body += """
                    <rect class="gap" x="\(Self.number(x))" y="\(Self.number(Self.top))" \
                    width="\(Self.number(step))" height="\(Self.number(plotHeight))"/>
                    """
                continue
            }
            var sum = 0.0
            var bars = ""
            let total = self.sum(figures)
            let isCut = total > scale
            for series in series {
                // A cut bar keeps its proportions.
                let value = series.value(figures) * (isCut ? scale / total : 1)
                guard value > 0 else { continue }
                let height = max(plotHeight * value / scale, 1)
                sum += value
                bars += """
                    <rect class="\(series.kind)" x="\(Self.number(x + step * 0.1))" y="\(Self.number(min(y(sum), Self.top + plotHeight - height)))" \
                    width="\(Self.number(step * 0.8))" height="\(Self.number(height))"/>
                    """
            }
            if isCut { bars += cut(x + step / 2, text(total)) }
            if figures.failed > 0 {
                bars += """
                    <rect class="discarded" x="\(Self.number(x + step * 0.1))" y="\(Self.number(Self.top + plotHeight + 3))" \
                    width="\(Self.number(max(step * 0.8, 2)))" height="6"/>
                    """
            }
            if !bars.isEmpty { body += "<g><title>\(tip(index, figures))</title>\(bars)</g>" }
        }
        body += times()
        return """
            <svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" aria-labelledby="\(id)-title">\
            <title id="\(id)-title">\(summary)</title>\(body)</svg>
            """
    }

    /// The mark of a bar that is cut, with its value.
    private func cut(_ x: Double, _ value: String) -> String {
        let top = Self.top
        let place = Self.number(min(max(x, Self.left + 20), Self.width - 20))
        return """
            <path class="cut" d="M\(Self.number(x - 6)) \(Self.number(top + 6))l12 -5m-12 10l12 -5"/>\
            <text class="label" x="\(place)" y="\(Self.number(top - 6))" text-anchor="middle">\(value)</text>
            """
    }

    /// The text in place of the image, for screen readers.
    private var summary: String {
        let spans = timeline.spans.compactMap { $0 }
        guard !spans.isEmpty else { return "\(title): nothing ran" }
        let parts = series.map { series in
            "\(series.name) \(text(spans.map(series.value).max() ?? 0)) at most"
        }
        let gaps = timeline.gaps.count
        let failed = spans.reduce(0) { $0 + $1.failed }
        return "\(title): " + parts.joined(separator: ", ")
            + "; \(gaps) of \(timeline.count) spans without a run, \(Figures.count(failed, "run")) failed"
    }

    private func tip(_ index: Int, _ figures: RunFigures) -> String {
        let start = TimeView(timeline.start(of: index)).text
        let values =
            series.filter { $0.value(figures) > 0 }.map { "\($0.name) \(text($0.value(figures)))" }
            + (figures.failed > 0 ? ["\(figures.failed) failed"] : [])
        return "\(start), \(figures.runs) \(figures.runs == 1 ? "run" : "runs"): " + values.joined(separator: ", ")
    }

    private func times() -> String {
        let isLong = timeline.seconds * Double(timeline.count) > 3 * 86_400 || timeline.seconds >= 43_200
        // Labels of several days need the day.
        let isOneDay =
            (timeline.start.timeIntervalSince1970 / 86_400).rounded(.down)
            == ((timeline.start(of: timeline.count).timeIntervalSince1970 - 1) / 86_400).rounded(.down)
        let step = (Self.width - Self.left) / Double(timeline.count)
        let places = [0, timeline.count / 4, timeline.count / 2, timeline.count * 3 / 4]
        let now = """
            <text class="label" x="\(Self.number(Self.width))" y="\(Self.number(Self.height - 6))" text-anchor="end">now</text>
            """
        return now
            + Set(places).sorted().map { index in
                let iso = timeline.start(of: index).formatted(.iso8601)
                let (day, hour) = (iso.prefix(10).suffix(5), iso.prefix(16).suffix(5))
                let (form, text) =
                    isLong ? ("day", "\(day)") : isOneDay ? ("time", "\(hour)") : ("both", "\(day) \(hour)")
                // Our script says the time in the reader's zone.
                return """
                    <text class="label" data-time="\(iso)" data-form="\(form)" \
                    x="\(Self.number(Self.left + Double(index) * step))" y="\(Self.number(Self.height - 6))">\(text)</text>
                    """
            }.joined()
    }

    /// Returns the least number of the form 1, 2 or 5 times a power of ten that is not below a value.
    static func scale(_ value: Double) -> Double {
        guard value > 0, value.isFinite else { return 1 }
        let power = pow(10, (log10(value)).rounded(.down))
        return [1, 2, 5, 10].map { $0 * power }.first { $0 >= value * (1 - 1e-9) } ?? 10 * power
    }

    private static func number(_ value: Double) -> String {
        let tenths = (value * 10).rounded() / 10
        return tenths == tenths.rounded() ? String(Int(tenths)) : String(tenths)
    }
}
