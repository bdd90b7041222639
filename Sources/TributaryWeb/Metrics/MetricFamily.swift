/// A metric: its name, what it means, and its series.
struct MetricFamily: Sendable {
    enum Kind: String, Sendable {
        case counter, realCounter, gauge, histogram

        /// The type as it is written.
        var word: String { self == .realCounter ? "counter" : rawValue }
    }

    let name: String
    let kind: Kind
    let description: MetricDescription?
    let bucketName: String
    let sumName: String
    let countName: String
    private(set) var series: [any Series] = []
    /// How many of those who asked for a series have not given it back, by its labels, and where it is.
    private var places: [String: (index: Int, users: Int)] = [:]

    init(name: String, kind: Kind, description: MetricDescription?) {
        self.name = name
        self.kind = kind
        self.description = description
        (bucketName, sumName, countName) = (name + "_bucket", name + "_sum", name + "_count")
    }

    /// The names that no other metric may have.
    var sampleNames: [String] { kind == .histogram ? [name, bucketName, sumName, countName] : [name] }

    /// Returns the series with these labels for one more user.
    mutating func existing(_ labels: String) -> (any Series)? {
        guard let place = places[labels] else { return nil }
        places[labels]?.users += 1
        return series[place.index]
    }

    func holds(_ other: any Series) -> Bool {
        guard let place = places[other.labels] else { return false }
        return series[place.index] === other
    }

    mutating func add(_ new: any Series) {
        places[new.labels] = (series.count, 1)
        series.append(new)
    }

    /// Takes note that a user needs a series no more.
    ///
    /// - Returns: true where it was the last one, and the series is gone.
    mutating func release(_ labels: String) -> Bool {
        guard let place = places[labels] else { return false }
        guard place.users == 1 else {
            places[labels] = (place.index, place.users - 1)
            return false
        }
        places[labels] = nil
        // The last one takes its place.
        let last = series.removeLast()
        if place.index < series.count {
            series[place.index] = last
            places[last.labels]?.index = place.index
        }
        return true
    }
}

/// The values of one metric with one set of labels.
protocol Series: AnyObject, Sendable {
    /// The labels as they are written, without braces.
    var labels: String { get }
    /// The value, and the number of observations of a histogram.
    var number: Double { get }

    func write(to text: inout ExpositionText, of family: MetricFamily)
}

/// What a metric means: swift-metrics has no place for it. A registry that is given one writes it beside the values.
package struct MetricDescription: Sendable {
    /// The name, as it is given to swift-metrics.
    package var name: String
    package var help: String
    /// The upper bounds of a histogram's buckets, in ascending order, without infinity.
    package var buckets: [Double]

    /// Prometheus' own buckets, for histograms of seconds that nobody describes.
    package static let defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    package init(name: String, help: String, buckets: [Double] = Self.defaultBuckets) {
        self.name = name
        self.help = help
        self.buckets = Set(buckets.filter(\.isFinite)).sorted()
    }
}
