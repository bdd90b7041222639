import CoreMetrics
import FeedConfiguration
import FeedModel
import Foundation
import TributaryWeb
import TestSupport
import Testing

@testable import TributaryEngine

/// Which series an engine has, and what they cost.
@Suite struct EngineMetricsTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)

    @Test func eachDefinedMetricIsTold() {
        let engine = MeasuredEngine(sources: 3)
        engine.work(at: now)
        let text = engine.text()
        for definition in MetricDefinition.all {
            let title =
                "# HELP \(definition.name) \(definition.help)\n# TYPE \(definition.name) \(definition.kind.rawValue)\n"
            let isTold = text.contains(title)
            #expect(isTold, "\(definition.name)")
            let suffix = definition.kind == .histogram ? "_bucket" : ""
            let labels = engine.samples(definition.name + suffix).first.map { sample in
                sample.matches(of: /[{,]([a-z]+)="/).map { String($0.1) }.filter { $0 != "le" }
            }
            #expect(labels == definition.labels.sorted(), "\(definition.name)")
            #expect((definition.kind == .counter) == definition.name.hasSuffix("_total"))
        }
    }

    @Test func aSourceThatIsNotDeclaredAnyMoreIsGone() {
        let engine = MeasuredEngine(sources: 3)
        engine.work(at: now)
        let before = engine.registry.count
        engine.metrics.declare(WatchedSources(["source-1", "source-2"]))
        #expect(!engine.text().contains("source-0"))
        // Its run ends after it, and brings nothing back.
        engine.metrics.note(RunReport(source: "source-0", outcome: .committed, startedAt: now))
        engine.metrics.received(of: "source-0")?.increment()
        #expect(!engine.text().contains("source-0"))
        engine.metrics.declare(engine.watched)
        engine.metrics.own(Set(engine.names))
        engine.work(at: now)
        #expect(engine.registry.count == before)
        #expect(
            engine.samples("tributary_runs_total").contains(
                "tributary_runs_total{outcome=\"committed\",source=\"source-0\"} 1"))
    }

    @Test func howOthersSourcesStandIsForOthersToTell() {
        let engine = MeasuredEngine(sources: 2)
        engine.work(at: now)
        engine.metrics.own(["source-1"])
        #expect(
            engine.samples("tributary_consecutive_failures") == [
                "tributary_consecutive_failures{source=\"source-1\"} 0"
            ])
        #expect(engine.samples("tributary_next_due_timestamp_seconds").count == 1)
        // What was run here stays counted.
        #expect(
            engine.samples("tributary_runs_total").contains(
                "tributary_runs_total{outcome=\"committed\",source=\"source-0\"} 1"))
        engine.metrics.refresh(now: now)
        #expect(engine.samples("tributary_sources").contains("tributary_sources{state=\"ok\"} 1"))
        #expect(engine.metrics.unknown.isEmpty)
        engine.metrics.own(["source-0", "source-1"])
        #expect(engine.metrics.unknown == ["source-0"])
    }

    @Test func withoutSeriesOfSourcesTheSameNamesTellOfAllOfThem() {
        let engine = MeasuredEngine(sources: 7, perSource: false)
        engine.work(at: now)
        #expect(!engine.text().contains("source="))
        #expect(
            engine.samples("tributary_runs_total").sorted() == [
                "tributary_runs_total{outcome=\"blocked\"} 1", "tributary_runs_total{outcome=\"committed\"} 3",
                "tributary_runs_total{outcome=\"discarded\"} 1", "tributary_runs_total{outcome=\"unchanged\"} 2",
            ])
        #expect(engine.samples("tributary_rows_total").contains("tributary_rows_total{operation=\"insert\"} 21"))
        #expect(engine.samples("tributary_received_bytes_total") == ["tributary_received_bytes_total 700"])
        #expect(engine.samples("tributary_consecutive_failures") == ["tributary_consecutive_failures 1"])
        #expect(engine.samples("tributary_blocked") == ["tributary_blocked 1"])
        #expect(engine.samples("tributary_paused") == ["tributary_paused 0"])
        #expect(
            engine.samples("tributary_last_success_timestamp_seconds") == [
                "tributary_last_success_timestamp_seconds 1799999946"
            ])
        #expect(
            engine.samples("tributary_next_due_timestamp_seconds") == [
                "tributary_next_due_timestamp_seconds 1800000900"
            ])
        #expect(engine.registry.count < 40)
    }

    @Test func aStateThatIsReadDoesNotUndoARunThatEndedMeanwhile() {
        let engine = MeasuredEngine(sources: 1)
        let notes = engine.metrics.notes
        engine.work(at: now)
        var old = SourceState(source: "source-0", outcome: .discarded, lastRun: now - 900, failures: 7)
        old.lastGood = now - 1800
        engine.metrics.take(["source-0": old], since: notes, deaths: { _ in 0 })
        #expect(engine.samples("tributary_consecutive_failures").first?.hasSuffix(" 0") == true)
        engine.metrics.take(["source-0": old], since: engine.metrics.notes, deaths: { _ in 0 })
        #expect(engine.samples("tributary_consecutive_failures").first?.hasSuffix(" 7") == true)
        #expect(engine.samples("tributary_last_success_timestamp_seconds").first?.hasSuffix(" 1799998200") == true)
    }

    @Test func aSourceIsStaleOnceFreshWithinHasPassed() {
        let engine = MeasuredEngine(sources: 2)
        func stale() -> [String] { engine.samples("tributary_stale").sorted().map { String($0.suffix(1)) } }
        let first = RunReport(source: "source-0", outcome: .committed, startedAt: now, seconds: 5)
        engine.metrics.note(first)
        engine.metrics.refresh(now: now + 3604)
        #expect(stale() == ["0", "0"])
        engine.metrics.refresh(now: now + 3605)
        #expect(stale() == ["1", "0"])
        // Nothing was good yet, so that the first failure counts.
        engine.metrics.note(RunReport(source: "source-1", outcome: .discarded, startedAt: now + 10))
        engine.metrics.refresh(now: now + 3610)
        #expect(stale() == ["1", "1"])
        engine.metrics.note(RunReport(source: "source-0", outcome: .unchanged, startedAt: now + 3611))
        engine.metrics.refresh(now: now + 3612)
        #expect(stale() == ["0", "1"])
        engine.metrics.declare(WatchedSources(Set(engine.names), freshWithin: ["source-0": 7200]))
        engine.metrics.refresh(now: now + 3613)
        #expect(engine.samples("tributary_stale") == ["tributary_stale{source=\"source-0\"} 0"])
    }

    @Test func whereMetricsGoNowhereNothingIsKept() {
        let metrics = EngineMetrics(
            factory: NOOPMetricsHandler.instance, perSource: true, declared: WatchedSources(["s"]))
        metrics.note(RunReport(source: "s", outcome: .committed, startedAt: now))
        #expect(!metrics.isOn && metrics.received(of: "s") == nil && metrics.notes == 0)
    }

    @Test func theTenThousandthSourceCostsAsTheFirst() {
        func seconds(_ sources: Int) -> (run: Double, scrape: Double, lines: Int) {
            let engine = MeasuredEngine(sources: sources)
            let report = RunReport(source: "source-\(sources - 1)", outcome: .committed, startedAt: now, nextDue: now)
            engine.metrics.note(report)
            let noting = ProcessorTime()
            for _ in 0..<2000 { engine.metrics.note(report) }
            let run = noting.seconds
            let scraping = ProcessorTime()
            let lines = engine.registry.exposition().reduce(0) { $0 + $1.count { $0 == 10 } }
            return (run, scraping.seconds, lines)
        }
        let few = seconds(10)
        let many = seconds(10_000)
        #expect(many.lines > 90_000)
        #expect(many.run < 5 * few.run + 0.05, "\(many.run) and \(few.run)")
        // A thousand times as many; the square would be a million.
        #expect(many.scrape < 10_000 * few.scrape, "\(many.scrape) and \(few.scrape)")
    }

    @Test func tenThousandSourcesCanGoAtOnce() {
        func seconds(_ sources: Int) -> Double {
            let engine = MeasuredEngine(sources: sources)
            let time = ProcessorTime()
            engine.metrics.declare(WatchedSources())
            let used = time.seconds
            #expect(engine.registry.count < 40)
            return used
        }
        let (few, many) = (seconds(1_000), seconds(10_000))
        // Ten times as many; the square would be a hundred.
        #expect(many < 50 * few + 0.1, "\(many) and \(few)")
    }
}
