/// The text of a scrape in Prometheus' text format (prometheus.io/docs/instrumenting/exposition_formats), in pieces:
/// however many series there are, only one piece is in memory. Series that come or go while it is read are not in it;
/// values are those of the moment at which their line is written.
package struct Exposition: Sequence, IteratorProtocol {
    package static let contentType = "text/plain; version=0.0.4; charset=utf-8"

    /// The bytes, about, of a piece.
    static let pieceSize = 64 << 10

    private let families: [MetricFamily]
    private var text = ExpositionText()
    private var family = 0
    private var series = 0
    private var isDone = false

    init(_ families: [MetricFamily]) { self.families = families }

    package mutating func next() -> [UInt8]? {
        guard !isDone else { return nil }
        while family < families.count {
            let current = families[family]
            if series == 0 { text.title(of: current) }
            while series < current.series.count {
                current.series[series].write(to: &text, of: current)
                series += 1
                if text.bytes.count >= Self.pieceSize { return text.take() }
            }
            family += 1
            series = 0
        }
        isDone = true
        return text.bytes.isEmpty ? nil : text.take()
    }
}

/// The text of a scrape while it is written. Numbers are written as Go's `ParseFloat` reads them.
struct ExpositionText {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(Exposition.pieceSize + 4096) }

    /// Returns what has been written since the last call.
    mutating func take() -> [UInt8] {
        defer { bytes.removeAll(keepingCapacity: true) }
        return bytes
    }

    mutating func title(of family: MetricFamily) {
        if let help = family.description?.help {
            line("# HELP ", family.name, " ", MetricName.escaped(help, quotes: false))
        }
        line("# TYPE ", family.name, " ", family.kind.word)
    }

    mutating func sample(_ name: String, _ labels: String, _ value: some BinaryInteger) {
        sample(name, labels, String(value))
    }

    mutating func sample(_ name: String, _ labels: String, _ value: Double) { sample(name, labels, Self.number(value)) }

    mutating func sample(_ name: String, _ labels: String, upTo bound: Double, _ count: UInt64) {
        sample(name, (labels.isEmpty ? "" : labels + ",") + "le=\"\(Self.number(bound))\"", count)
    }

    private mutating func sample(_ name: String, _ labels: String, _ value: String) {
        append(name)
        if !labels.isEmpty {
            append("{")
            append(labels)
            append("}")
        }
        append(" ")
        append(value)
        append("\n")
    }

    private mutating func line(_ texts: String...) {
        for text in texts { append(text) }
        append("\n")
    }

    private mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return Int64(exactly: value).map { String($0) } ?? "\(value)"
    }
}
