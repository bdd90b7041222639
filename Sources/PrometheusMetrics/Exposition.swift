/// The text of a scrape, in pieces: however many series there are, only one piece is in memory. Series that come or go
/// while it is read are not in it; values are those of the moment at which their line is written.
package struct Exposition: Sequence, IteratorProtocol {
    /// The bytes, about, of a piece.
    static let pieceSize = 64 << 10

    private let families: [MetricFamily]
    private var text: ExpositionText
    private var family = 0
    private var series = 0
    private var isDone = false

    init(_ families: [MetricFamily], _ format: ExpositionFormat) {
        self.families = families
        text = ExpositionText(format)
    }

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
        text.end()
        return text.bytes.isEmpty ? nil : text.take()
    }
}
