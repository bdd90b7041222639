import CoreMetrics
import FeedModel
import struct Synchronization.Atomic

/// A number that only grows.
final class CounterSeries: Series, CounterHandler {
    let labels: String
    private let value = Atomic<Int64>(0)

    init(labels: String) { self.labels = labels }

    var number: Double { Double(value.load(ordering: .relaxed)) }

    /// Adds to the number. It does not shrink, nor grow beyond its type.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        if value.wrappingAdd(amount, ordering: .relaxed).newValue < 0 { value.store(.max, ordering: .relaxed) }
    }

    func reset() { value.store(0, ordering: .relaxed) }

    func write(to text: inout ExpositionText, of family: MetricFamily) {
        text.sample(family.name, labels, value.load(ordering: .relaxed))
    }
}

/// A number that need not be whole.
final class NumberSeries: Series, MeterHandler, RecorderHandler, FloatingPointCounterHandler {
    let labels: String
    private let onlyGrows: Bool
    private let value: Mutex<Double>

    init(labels: String, value: Double = 0, onlyGrows: Bool = false) {
        self.labels = labels
        self.onlyGrows = onlyGrows
        self.value = Mutex(value)
    }

    var number: Double { value.withLock(\.self) }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { self.value.withLock { $0 = value } }

    func increment(by amount: Double) {
        if onlyGrows { guard amount > 0, amount.isFinite else { return } }
        value.withLock { $0 += amount }
    }

    func decrement(by amount: Double) { value.withLock { $0 -= amount } }

    func record(_ value: Int64) { set(value) }

    func record(_ value: Double) { set(value) }

    func reset() { set(0.0) }

    func write(to text: inout ExpositionText, of family: MetricFamily) {
        text.sample(family.name, labels, number)
    }
}

/// Counts of observed numbers, by upper bound.
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

    var number: Double { Double(state.withLock(\.counts).reduce(0, +)) }

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
