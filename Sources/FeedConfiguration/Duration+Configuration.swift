extension Duration {
    static let longestConfigured = "36525d"

    /// The text of a whole number of milliseconds, by the largest unit that divides it: `90d`.
    var configured: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let units: [(Int64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")]
        let unit = units.first { milliseconds % $0.0 == 0 && milliseconds > 0 } ?? (1, "ms")
        return "\(milliseconds / unit.0)\(unit.1)"
    }

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
