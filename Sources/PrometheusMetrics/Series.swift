/// The values of one metric with one set of labels.
protocol Series: AnyObject, Sendable {
    /// The labels as they are written, without braces.
    var labels: String { get }

    func write(to text: inout ExpositionText, of family: MetricFamily)
}
