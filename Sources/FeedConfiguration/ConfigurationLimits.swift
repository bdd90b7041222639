/// How large the numbers of a configuration may be. None of them is near to what arithmetic with them could overflow at.
enum ConfigurationLimits {
    /// Runs, requests to a host, or requests of a `for_each` at the same time.
    static let concurrency = 10_000
    static let retries = 1_000
    static let maxPages = 1_000_000_000
    static let maxRequests = 1_000_000_000
    /// Of a page's counter.
    static let counterStart = 1_000_000_000_000_000
    static let counterStep = 1_000_000_000
    /// Mistakes that are told at once.
    static let problems = 1_000
    /// Characters of what is said about one, and of each key on the way to it.
    static let message = 2_000
    static let shownKey = 100
    static let shownAddress = 500
}
