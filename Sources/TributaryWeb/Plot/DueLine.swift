import FeedModel
import Foundation
import TributaryEngine

/// The next hour as a line of time: a bar for each minute, as high as the number of sources that are due in it. Sources
/// that are due already are in the first minute.
struct DueLine {
    private static let minutes = 60
    private static let width = 720.0
    private static let height = 96.0
    private static let top = 28.0
    private static let bottom = 22.0
    private static let step = width / Double(minutes)
    private static let id = "due-line-title"

    /// The beginning of the first minute.
    private let start: Date
    private let counts: [Int]

    /// - Parameter times: when sources are due, none later than an hour from now.
    init(_ times: [Date], now: Date) {
        start = Date(timeIntervalSinceReferenceDate: (now.timeIntervalSinceReferenceDate / 60).rounded(.down) * 60)
        var counts = Array(repeating: 0, count: Self.minutes)
        for time in times {
            let minute = time.timeIntervalSince(start) / 60
            counts[Int(min(max(minute, 0), Double(Self.minutes - 1)))] += 1
        }
        self.counts = counts
    }

    var svg: String {
        let most = counts.max() ?? 0
        let end = Self.height - Self.bottom
        let foot = SVG.number(end)
        var body = """
            <title id="\(Self.id)">Sources due in each of the next \(Self.minutes) minutes: \(most.grouped) at most</title>\
            <line class="axis" x1="0" x2="\(SVG.number(Self.width))" y1="\(foot)" y2="\(foot)"/>
            """
        body += SVG.label("at most \(Figures.count(most, "source")) a minute", x: 0, y: Self.top - 6)
        for (minute, count) in counts.enumerated() where count > 0 {
            let height = max((end - Self.top) * Double(count) / Double(most), 1)
            body += SVG.rect(
                "due", x: Double(minute) * Self.step + 1, y: end - height, width: Self.step - 2, height: height,
                "<title>\(TimeView(start(of: minute)).text): \(Figures.count(count, "source"))</title>")
        }
        return SVG.image(Self.width, Self.height, labelledBy: Self.id, body + times)
    }

    private func start(of minute: Int) -> Date { start + Double(minute) * 60 }

    /// The times below the bars, which our script says in the reader's zone.
    private var times: String {
        [0, 15, 30, 45].reduce(into: "") { labels, minute in
            let time = start(of: minute).formatted(.iso8601)
            labels += SVG.label(
                minute == 0 ? "now" : String(time.prefix(16).suffix(5)), x: Double(minute) * Self.step,
                y: Self.height - 6, attributes: minute == 0 ? "" : " data-time=\"\(time)\" data-form=\"time\"")
        }
    }
}
