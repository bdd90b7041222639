import AsyncAlgorithms
import FeedModel
import Foundation
import TributaryEngine

/// The figures of this daemon over its last hours, one sample a minute.
final class DaemonFigures: Sendable {
    /// The metrics at one time, or a sample of a minute.
    struct Reading {
        /// The number of runs that sent a request: since the start of the process, or since the sample before.
        var runs: Double
        /// The seconds for which a due source has been waiting; the most since the sample before.
        var delay: Double
        /// The bytes of the store, and of the process in memory; nil if unknown.
        var storeBytes: Double?
        var memory: Double?
    }

    private struct State {
        var samples: [(time: Date, figures: Reading)] = []
        /// The number of readings since the last sample, the runs at that time, and the greatest delay since.
        var readings = 0
        var runs = 0.0
        var delay = 0.0
    }

    /// The most samples: those of four hours.
    static let most = 240
    private static let interval = Duration.seconds(15)
    private static let readingsOfASample = 4

    private let state = Mutex(State())

    /// Reads the metrics until the task is cancelled.
    func follow(_ registry: PrometheusRegistry) async {
        for await _ in AsyncTimerSequence(interval: Self.interval, clock: .continuous) {
            note(
                Reading(
                    runs: registry.value(of: MetricDefinition.runDuration.name) ?? 0,
                    delay: registry.value(of: MetricDefinition.schedulerLag.name) ?? 0,
                    storeBytes: registry.value(of: MetricDefinition.storeBytes.name),
                    memory: ProcessFigures.residentBytes()), at: Date())
        }
    }

    func note(_ reading: Reading, at time: Date) {
        state.withLock { state in
            state.readings += 1
            state.delay = max(state.delay, reading.delay)
            guard state.readings == Self.readingsOfASample else { return }
            if state.samples.count == Self.most { state.samples.removeFirst() }
            var sample = reading
            (sample.runs, sample.delay) = (reading.runs - state.runs, state.delay)
            state.samples.append((time, sample))
            (state.readings, state.runs, state.delay) = (0, reading.runs, 0)
        }
    }

    /// The figures as the template shows them, each with a plot.
    var view: View {
        let samples = state.withLock(\.samples)
        let bytes: @Sendable (Double) -> String = { Figures.bytes(Int($0)) }
        let plots = [
            plot("Runs a minute", samples.map { ($0.time, $0.figures.runs) }) { StepPlot.text($0) },
            plot("Memory", samples.map { ($0.time, $0.figures.memory) }, bytes),
            plot("Size of the store", samples.map { ($0.time, $0.figures.storeBytes) }, bytes),
            plot("Longest wait of a due source", samples.map { ($0.time, $0.figures.delay) }) {
                $0 > 0 ? Figures.seconds($0) : "0 s"
            },
        ].compactMap(\.self)
        return ["plots": plots, "isEmpty": plots.isEmpty]
    }

    /// - Returns: nil where there are not two samples yet.
    private func plot(
        _ name: String, _ values: [(time: Date, value: Double?)], _ text: @escaping @Sendable (Double) -> String
    ) -> View? {
        let known = values.compactMap(\.value)
        guard let now = values.last?.time, let last = known.last, let most = known.max(), known.count > 1 else {
            return nil
        }
        let id = "plot-" + name.lowercased().replacing(" ", with: "-")
        let plot = StepPlot(values.map { StepPlot.Point(time: $0.time, value: $0.value) }, from: 0, text)
        return [
            "id": id, "name": name, "last": text(last), "most": text(most), "svg": plot.svg(named: id, now: now),
        ]
    }
}
