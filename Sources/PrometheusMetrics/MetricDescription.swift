/// What a metric means: swift-metrics has no place for it. A registry that is given one writes it beside the values.
package struct MetricDescription: Sendable {
    /// The name, as it is given to swift-metrics.
    package var name: String
    package var help: String
    /// The base unit at the end of the name, such as `seconds`; nil where there is none.
    package var unit: String?
    /// The upper bounds of a histogram's buckets, in ascending order, without infinity.
    package var buckets: [Double]

    /// Prometheus' own buckets, for histograms of seconds that nobody describes.
    package static let defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    package init(name: String, help: String, unit: String? = nil, buckets: [Double] = Self.defaultBuckets) {
        self.name = name
        self.help = help
        self.unit = unit
        self.buckets = Set(buckets.filter(\.isFinite)).sorted()
    }
}
