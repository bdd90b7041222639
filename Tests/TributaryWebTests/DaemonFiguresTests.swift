import Foundation
import Testing

@testable import TributaryWeb

struct DaemonFiguresTests {
    private let start = Date(timeIntervalSince1970: 1_800_000_000)

    /// Notes four readings a minute. Twenty runs end in each minute, and a source waits in the second.
    private func note(minutes: Int, in figures: DaemonFigures) {
        for number in 0..<4 * minutes {
            figures.note(
                DaemonFigures.Reading(
                    runs: Double(number + 1) * 5, delay: number == 5 ? 90 : 0, storeBytes: 2_000_000, memory: nil),
                at: start + Double(number) * 15)
        }
    }

    private func html(_ figures: DaemonFigures) throws -> String { try Templates().render("figures", figures.view) }

    @Test func aSampleTellsOfAMinute() throws {
        let figures = DaemonFigures()
        note(minutes: 1, in: figures)
        let early = try html(figures)
        #expect(early.contains("The plots begin with the second minute.") && !early.contains("<figure>"), "\(early)")
        let later = DaemonFigures()
        note(minutes: 3, in: later)
        let page = try html(later)
        for text in [
            "Runs a minute: <b>20</b>, at most 20<", "Size of the store: <b>2.0 MB</b>, at most 2.0 MB<",
            "Longest wait of a due source: <b>0 s</b>, at most 90.0 s<",
        ] { #expect(page.contains(text), "\(text): \(page)") }
        // What is unknown has no plot.
        #expect(!page.contains("Memory"), "\(page)")
    }

    @Test func theNumberOfSamplesIsBounded() throws {
        let figures = DaemonFigures()
        note(minutes: DaemonFigures.most + 60, in: figures)
        let page = try html(figures)
        let path = try #require(page.firstMatch(of: /<path class="step" d="(M[^"]*)"/)?.1)
        #expect(path.count { $0 == "V" } == DaemonFigures.most - 1)
        #expect(!page.contains("at most 90.0 s"))
    }

    @Test func metricsAreReadByTheirNames() {
        let engine = MeasuredEngine(sources: 7)
        #expect(engine.registry.value(of: "tributary_store_bytes") == nil)
        engine.work(at: start)
        #expect(engine.registry.value(of: "tributary_store_bytes") == 1_048_576)
        #expect(engine.registry.value(of: "tributary_scheduler_lag_seconds") == 5)
        #expect(engine.registry.value(of: "tributary_run_duration_seconds") == 7)
        #expect(engine.registry.value(of: "nosuch") == nil)
        #expect(ProcessFigures.residentBytes() ?? 0 > 1_000_000)
    }
}
