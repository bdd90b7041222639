import FeedModel
import Foundation

/// The runs of a source over a time, in spans of the same length.
struct Timeline {
    /// The most spans that can be distinguished on a phone.
    private static let mostSpans = 96
    /// The lengths that a span may have, in seconds: usual lengths.
    private static let lengths: [Double] = [
        60, 300, 600, 900, 1_800, 3_600, 7_200, 10_800, 21_600, 43_200, 86_400, 172_800, 604_800,
    ]

    let start: Date
    let seconds: Double
    let count: Int
    /// The figures of each span; nil where nothing ran.
    var spans: [RunFigures?]

    /// The span of the first run of all. Before it, there is nothing that could be missing.
    let begin: Int

    /// - Parameters:
    ///   - interval: the seconds between two runs, so that each span has room for one.
    ///   - first: the time of the first run of all; nil where there is none.
    init(from start: Date, to end: Date, interval: Double, first firstRun: Date? = .distantPast) {
        let least = max((end.timeIntervalSince(start)) / Double(Self.mostSpans), interval)
        let week = 604_800.0
        seconds = Self.lengths.first { $0 >= least } ?? (least / week).rounded(.up) * week
        // Spans begin at whole multiples of their length, so that they stay where they are while time goes on.
        let first = (start.timeIntervalSince1970 / seconds).rounded(.down) * seconds
        self.start = Date(timeIntervalSince1970: first)
        count = max(1, Int(((end.timeIntervalSince1970 - first) / seconds).rounded(.up)))
        let firstTime = firstRun?.timeIntervalSince1970 ?? end.timeIntervalSince1970
        let before = (firstTime - first) / seconds
        begin = Int(min(max(before, 0), Double(count)))
        spans = Array(repeating: nil, count: count)
    }

    mutating func fill(_ figures: [RunFigures]) {
        for figures in figures where spans.indices.contains(figures.span) { spans[figures.span] = figures }
    }

    func start(of span: Int) -> Date { start + Double(span) * seconds }
}
