/// The limits of a configuration's numbers. All are far below the point where arithmetic with them could overflow.
enum ConfigurationLimits {
    /// The most runs, requests to a host, or requests of a `for_each` at the same time.
    static let concurrency = 10_000
    /// The most connections to a store, as many as a server of PostgreSQL's takes.
    static let connections = 262_143
    static let retries = 1_000
    static let keptBodies = 1_000
    /// The most lines before a header in CSV.
    static let skippedLines = 1_000_000
    static let maxPages = 1_000_000_000
    static let maxRequests = 1_000_000_000
    static let minRows = 1_000_000_000_000
    /// The most changed rows that an event of a hook may hold.
    static let hookRows = 10_000
    /// The limits of a page's counter.
    static let counterStart = 1_000_000_000_000_000
    static let counterStep = 1_000_000_000
    /// The most mistakes that are reported at once.
    static let problems = 1_000
    /// The most characters of a mistake's message, of each key in its path, and of an address.
    static let message = 2_000
    static let shownKey = 100
    static let shownAddress = 500
}

extension Duration {
    static let longestConfigured = "36525d"

    /// The text of a whole number of milliseconds, by the largest unit that divides it: `90d`.
    var configured: String {
        let milliseconds = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
        let units: [(Int64, String)] = [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")]
        let unit = units.first { milliseconds % $0.0 == 0 && milliseconds > 0 } ?? (1, "ms")
        return "\(milliseconds / unit.0)\(unit.1)"
    }

    /// Reads `500ms`, `5s`, `15m`, `6h`, `1d` or `3y`; nil for anything else, and for more than 100 years.
    init?(configuration text: String) {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let units = ["ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "y": 365 * 86_400_000]
        guard let number = Int(digits), let unit = units[String(text.dropFirst(digits.count))],
            number <= 36_525 * 86_400_000 / unit
        else { return nil }
        self = .milliseconds(number * unit)
    }
}
