extension Duration {
    static let longestConfigured = "36525d"

    /// Reads `500ms`, `5s`, `15m`, `6h` or `1d`; nil for anything else, and for more than 100 years.
    init?(configuration text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
        guard let number = Int(digits), let unit = units[String(text.dropFirst(digits.count))],
            number <= 36_525 * 86_400_000 / unit
        else { return nil }
        self = .milliseconds(number * unit)
    }
}
