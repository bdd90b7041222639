import PrometheusMetrics

extension Exposition {
    /// All of it.
    var text: String { String(decoding: Array(joined()), as: UTF8.self) }
}
