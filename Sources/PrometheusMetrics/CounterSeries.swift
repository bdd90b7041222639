import CoreMetrics
import Locking
import struct Synchronization.Atomic

/// A number that only grows.
final class CounterSeries: Series, CounterHandler {
    let labels: String
    private let value = Atomic<Int64>(0)

    init(labels: String) { self.labels = labels }

    /// Adds to the number. It does not shrink, nor grow beyond its type.
    func increment(by amount: Int64) {
        guard amount > 0 else { return }
        if value.wrappingAdd(amount, ordering: .relaxed).newValue < 0 { value.store(.max, ordering: .relaxed) }
    }

    func reset() { value.store(0, ordering: .relaxed) }

    func write(to text: inout ExpositionText, of family: MetricFamily) {
        text.sample(family.counterName(text.format), labels, value.load(ordering: .relaxed))
    }
}

/// A number that only grows, and need not be whole.
final class RealCounterSeries: Series, FloatingPointCounterHandler {
    let labels: String
    private let value = Mutex(0.0)

    init(labels: String) { self.labels = labels }

    func increment(by amount: Double) {
        guard amount > 0, amount.isFinite else { return }
        value.withLock { $0 += amount }
    }

    func reset() { value.withLock { $0 = 0 } }

    func write(to text: inout ExpositionText, of family: MetricFamily) {
        text.sample(family.counterName(text.format), labels, value.withLock(\.self))
    }
}
