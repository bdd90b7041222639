/// What scenarios may hold besides the ordinary.
struct ModelFeatures: OptionSet, Sendable {
    let rawValue: Int

    /// Values of a UNIQUE column that change places.
    static let uniqueSwaps = ModelFeatures(rawValue: 1)
    /// Scopes and keys that the column equates and text does not.
    static let columnEquality = ModelFeatures(rawValue: 2)
    /// Feeds that fill the column of their request's scope themselves, with other values.
    static let feedsFillScope = ModelFeatures(rawValue: 4)
    /// Foreign keys with an action.
    static let cascades = ModelFeatures(rawValue: 8)
    /// Sources that write rows of the same keys into tables that some of them mirror, each in its own scope. The program
    /// refuses such declarations; the library does not.
    static let movesBetweenScopes = ModelFeatures(rawValue: 64)
    /// A request that appends to a table without a key that another of its stack mirrors.
    static let appendsBesideMirrors = ModelFeatures(rawValue: 16)
    /// The changelog names a row by its key as the store has it, not as the feed writes it.
    static let exactChangelogKeys = ModelFeatures(rawValue: 32)

    /// What the suite plays: all of it.
    static let suite: ModelFeatures = [
        .uniqueSwaps, .columnEquality, .feedsFillScope, .cascades, .movesBetweenScopes, .appendsBesideMirrors,
        .exactChangelogKeys,
    ]
}
