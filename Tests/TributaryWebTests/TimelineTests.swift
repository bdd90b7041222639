import FeedModel
import Foundation
import Testing

@testable import TributaryWeb

struct TimelineTests {
    private let now = Date(timeIntervalSince1970: 1_790_000_000)

    private static let day = 86_400.0

    /// Period, interval of the runs, length of a span.
    private static let lengths: [(Double, Double, Double)] = [
        (day, 60.0, 900.0), (day, 3_600.0, 3_600.0), (7 * day, 900.0, 7_200.0), (90 * day, 900.0, day),
        (3_600.0, 1.0, 60.0), (4_000 * day, 1.0, 42 * day),
    ]

    @Test(arguments: lengths)
    func spansAreOfALengthThatPeopleCountIn(_ period: Double, _ interval: Double, _ length: Double) {
        let timeline = Timeline(from: now - period, to: now, interval: interval)
        #expect(timeline.seconds == length)
        #expect(timeline.start <= now - period && timeline.start(of: timeline.count) >= now)
        #expect(timeline.count <= 98)
        #expect(timeline.start.timeIntervalSince1970.truncatingRemainder(dividingBy: length) == 0)
    }

    @Test func figuresFallIntoTheirSpansAndGapsStay() {
        var timeline = Timeline(from: now - 86_400, to: now, interval: 60)
        var figures = RunFigures(span: 3)
        figures.committed = 2
        figures.inserted = 10
        timeline.fill([figures, RunFigures(span: 5_000)])
        #expect(timeline.spans[3] == figures && timeline.spans.compactMap { $0 }.count == 1)
        let chart = BarChart(timeline: timeline).svg
        #expect(chart.components(separatedBy: "class=\"gap\"").count == timeline.count)
        #expect(chart.contains("inserted 10</title>"))
        #expect(chart.contains("\(timeline.count - 1) of \(timeline.count) spans without a run"))
    }

    @Test func waitingForTheNextRunIsNoGap() {
        func gaps(_ spans: [Int], interval: Double, due: Date?) -> Set<Int> {
            var timeline = Timeline(from: now - 1_800, to: now, interval: interval, due: due)
            timeline.fill(spans.map { RunFigures(span: $0) })
            return timeline.gaps
        }
        let all = Timeline(from: now - 1_800, to: now, interval: 60).count
        #expect(all > 30)
        // Since the last run, until the next is due.
        #expect(gaps(Array(0..<20), interval: 60, due: now + 300).isEmpty)
        #expect(gaps(Array(0..<20), interval: 60, due: now - 300) == Set(20..<all))
        #expect(gaps(Array(0..<20), interval: 60, due: .distantFuture) == Set(20..<all))
        // Between two runs, a span that had no room for one for certain is none.
        #expect(gaps([0, 2, 4, 7] + Array(8..<all), interval: 60, due: now + 60) == [5, 6])
    }

    private static let sums: [(Int, String)] = [(9_999, "10k"), (40_000, "50k"), (900_000, "1M"), (1_200_000, "2M")]

    @Test(arguments: sums)
    func millionsAreWrittenSo(_ inserted: Int, _ label: String) {
        var timeline = Timeline(from: now - 86_400, to: now, interval: 3_600)
        var figures = RunFigures(span: 0)
        (figures.committed, figures.inserted) = (1, inserted)
        timeline.fill([figures])
        #expect(BarChart(timeline: timeline).svg.contains(">\(label)</text>"))
    }

    @Test func hoursOfSeveralDaysAreToldApart() {
        func labels(_ from: Date, _ seconds: Double) -> [String] {
            let timeline = Timeline(from: from, to: from + seconds, interval: 60)
            return BarChart(timeline: timeline).svg.matches(of: /class="label"[^>]*>([0-9: -]+)<\/text>/).map {
                String($0.1)
            }.filter { $0.contains(":") }
        }
        // 2026-09-21, 00:00 in UTC.
        let midnight = Date(timeIntervalSince1970: 1_789_948_800)
        #expect(labels(midnight, 80_000).first == "00:00")
        #expect(labels(midnight + 43_200, 86_400).first == "09-21 12:00")
        #expect(labels(midnight, 10 * 86_400).isEmpty)
    }

    @Test func timesInASentenceAreTimes() {
        let sentence = Sentence("failed; next attempt 2026-11-24 14:05 UTC; and 2026-99-99 14:05 UTC")
        #expect(
            sentence.parts.map(\.text) == ["failed; next attempt ", "; and 2026-99-99 14:05 UTC", ""]
                && sentence.parts.map { $0.time?.iso } == ["2026-11-24T14:05:00Z", nil, nil], "\(sentence)")
    }

    @Test func aTimeInASentenceIsAsExactAsItIsKnown() {
        let due = Date(timeIntervalSince1970: 1_789_948_854)
        #expect(Sentence("next attempt 2026-09-21 00:00 UTC", due: due).parts[0].time?.iso == "2026-09-21T00:00:54Z")
        #expect(Sentence("next attempt 2026-09-21 00:01 UTC", due: due).parts[0].time?.iso == "2026-09-21T00:01:00Z")
    }

    @Test func aBarThatIsFarLargerIsCutAndFailuresHaveAMark() {
        var timeline = Timeline(from: now - 86_400, to: now, interval: 3_600)
        var spans = (0..<5).map { RunFigures(span: $0) }
        for place in spans.indices { (spans[place].committed, spans[place].inserted) = (1, 10 + place) }
        spans[1].inserted = 260_000
        spans[4].discarded = 2
        timeline.fill(spans)
        let chart = BarChart(timeline: timeline).svg
        #expect(chart.contains("class=\"cut\"") && chart.contains(">260k</text>"))
        #expect(chart.contains(">20</text>"), "the others are seen: \(chart)")
        #expect(chart.components(separatedBy: "class=\"discarded\"").count == 2 && chart.contains("2 failed</title>"))
        #expect(chart.contains(">now</text>") && chart.contains("2 runs failed"))
    }

    @Test func aStripOfRunsFoldsThoseThatAreAlike() {
        let outcomes = [RunOutcome.committed, .unchanged, .unchanged, .unchanged, .discarded]
        let runs = outcomes.enumerated().map { place, outcome in
            RecentRuns.Run(
                number: Int64(place), outcome: outcome, startedAt: now + Double(place) * 60,
                changedRows: outcome == .committed ? 1 : 0)
        }
        let strip = RunStrip(runs).svg
        #expect(strip.components(separatedBy: "<rect").count == 4)
        #expect(strip.contains("aria-label=\"Last 5 runs: 3 unchanged, 1 committed, 1 discarded\""), "\(strip)")
        #expect(strip.contains("<title>3 unchanged: ") && strip.contains("<title>committed, 1 row: "))
        #expect(RunStrip([]).svg.contains("aria-label=\"No runs\""))
    }

    private static let scales: [(Double, Double)] = [
        (0, 1), (1, 1), (3, 5), (11, 20), (20, 20), (0.0123, 0.02), (99, 100), (5e9, 5e9),
    ]

    @Test(arguments: scales)
    func scalesAreRound(_ value: Double, _ scale: Double) {
        #expect(abs(BarChart.scale(value) - scale) < scale * 1e-9)
    }
}
