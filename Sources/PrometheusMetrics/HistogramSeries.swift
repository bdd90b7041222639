import CoreMetrics
import Locking

/// How often numbers were observed that are no larger than each of some bounds.
final class HistogramSeries: Series, RecorderHandler, TimerHandler {
    private struct State {
        /// The numbers observed between a bound and the one before it; the last is for those above all bounds.
        var counts: [UInt64]
        var sum = 0.0
    }

    let labels: String
    private let bounds: [Double]
    private let state: Mutex<State>

    init(labels: String, bounds: [Double]) {
        self.labels = labels
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        // No bucket is for what is no number.
        guard !value.isNaN else { return }
        let index = bounds.firstIndex { value <= $0 } ?? bounds.count
        state.withLock { state in
            state.counts[index] += 1
            state.sum += value
        }
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }

    func write(to text: inout ExpositionText, of family: MetricFamily) {
        // All of them from one moment.
        let state = state.withLock(\.self)
        var count: UInt64 = 0
        for (index, bound) in bounds.enumerated() {
            count += state.counts[index]
            text.sample(family.bucketName, labels, upTo: bound, count)
        }
        count += state.counts[bounds.count]
        text.sample(family.bucketName, labels, upTo: .infinity, count)
        text.sample(family.sumName, labels, state.sum)
        text.sample(family.countName, labels, count)
    }
}
