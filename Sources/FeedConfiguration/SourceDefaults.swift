/// The keys of a source that `[defaults]` may give for all sources.
struct SourceDefaults {
    var cache: Duration?
    var honorsMaxAge: Bool?
    var keepsHistory: Bool?

    init() {}

    /// Reads the keys from a table, and takes missing ones from `outer`.
    init(_ table: DeclarationReader, over outer: SourceDefaults) {
        cache = table.duration("cache") ?? outer.cache
        honorsMaxAge = table.boolean("honor_max_age") ?? outer.honorsMaxAge
        keepsHistory = table.boolean("keep_history") ?? outer.keepsHistory
    }
}
