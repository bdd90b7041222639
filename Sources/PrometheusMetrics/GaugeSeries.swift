import CoreMetrics
import Locking

/// A number that goes up and down.
final class GaugeSeries: Series, MeterHandler, RecorderHandler {
    let labels: String
    private let value: Mutex<Double>

    init(labels: String, value: Double = 0) {
        self.labels = labels
        self.value = Mutex(value)
    }

    func set(_ value: Int64) { set(Double(value)) }

    func set(_ value: Double) { self.value.withLock { $0 = value } }

    func increment(by amount: Double) { value.withLock { $0 += amount } }

    func decrement(by amount: Double) { value.withLock { $0 -= amount } }

    func record(_ value: Int64) { set(value) }

    func record(_ value: Double) { set(value) }

    func write(to text: inout ExpositionText, of family: MetricFamily) {
        text.sample(family.name, labels, value.withLock(\.self))
    }
}
