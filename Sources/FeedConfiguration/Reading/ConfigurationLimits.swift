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
