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
    /// The least number of neighbouring spans without a run that are a gap. Fewer may lie between two regular runs.
    private let leastGap: Int
    /// True where the next run is not due yet, so that none is missing since the last one.
    private let isWaiting: Bool

    /// - Parameters:
    ///   - interval: the seconds between two runs, so that each span has room for one.
    ///   - first: the time of the first run of all; nil where there is none.
    ///   - due: the time of the next run; nil where it is due already.
    init(
        from start: Date, to end: Date, interval: Double, first firstRun: Date? = .distantPast, due: Date? = nil
    ) {
        isWaiting = due.map { $0 > end && $0 < .distantFuture } ?? false
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
        leastGap = max(1, Int((2 * interval / seconds).rounded(.up)))
    }

    /// The spans in which a run is missing.
    var gaps: Set<Int> {
        let end = isWaiting ? (spans.lastIndex { $0 != nil } ?? -1) + 1 : count
        var gaps: Set<Int> = []
        var empty: [Int] = []
        for index in begin..<max(begin, end) + 1 {
            if index < end, spans[index] == nil {
                empty.append(index)
            } else {
                if empty.count >= leastGap { gaps.formUnion(empty) }
                empty = []
            }
        }
        return gaps
    }

    mutating func fill(_ figures: [RunFigures]) {
        for figures in figures where spans.indices.contains(figures.span) { spans[figures.span] = figures }
    }

    func start(of span: Int) -> Date { start + Double(span) * seconds }
}

/// A time as the templates show it: our script turns it into words such as "3 min ago".
struct TimeView: Sendable {
    let iso: String
    let text: String

    init(_ date: Date) {
        iso = date.formatted(.iso8601)
        text = String(iso.prefix(16)).replacing("T", with: " ") + " UTC"
    }
}

/// A sentence whose times are shown as all others are: in words, and in the zone of whoever reads.
struct Sentence {
    struct Part {
        var text: String
        /// What follows the text.
        var time: TimeView?
    }

    var parts: [Part] = []

    /// - Parameters:
    ///   - text: with times such as `2026-11-24 14:05 UTC`.
    ///   - due: a time that it may name, to the second.
    init(_ text: String, due: Date? = nil) {
        var rest = text[...]
        while let found = rest.firstMatch(of: /(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC/) {
            var time = try? Date("\(found.1)T\(found.2):00Z", strategy: .iso8601)
            if let due, let start = time, (-0.5..<60).contains(due.timeIntervalSince(start)) { time = due }
            let end = time == nil ? found.range.upperBound : found.range.lowerBound
            parts.append(Part(text: String(rest[..<end]), time: time.map(TimeView.init)))
            rest = rest[found.range.upperBound...]
        }
        parts.append(Part(text: String(rest)))
    }
}

/// The time that the plots of a source show.
enum Period: String, CaseIterable {
    case day, week, all

    /// - Parameter first: the time of the first run.
    func start(now: Date, first: Date?) -> Date {
        switch self {
        case .day: now - 86_400
        case .week: now - 7 * 86_400
        case .all: min(first ?? now, now - 3_600)
        }
    }
}
