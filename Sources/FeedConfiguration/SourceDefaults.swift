import FeedDeclarations

/// The keys of a source that `[defaults]` may give for all sources.
struct SourceDefaults {
    var cache: Duration?
    var schedule: CronSchedule?
    var timeZone: NamedZone?
    var honorsMaxAge: Bool?
    var freshWithin: Duration?
    var keepsHistory: Bool?
    var allowsPrivate: Bool?

    init() {}

    /// Reads the keys from a table, and takes missing ones from `outer`.
    init(_ table: DeclarationReader, over outer: SourceDefaults) {
        let keys = SourceKeys.all
        let times = ScheduleReader(table: table)
        timeZone = times.timeZone() ?? outer.timeZone
        cache = table[keys.cache]
        schedule = times.schedule(timeZone ?? .utc)
        if table.has(SourceKeys.all.cache), table.has(SourceKeys.all.schedule) {
            table.report(
                "cache", "give 'schedule' or 'cache', not both")
        } else if !table.has(SourceKeys.all.cache), !table.has(SourceKeys.all.schedule) {
            // The nearest of the two counts.
            cache = outer.cache
            schedule = outer.schedule.map { schedule in
                timeZone.map { schedule.moved(to: $0.name, $0.rules) } ?? schedule
            }
        }
        honorsMaxAge = table[keys.honorMaxAge] ?? outer.honorsMaxAge
        allowsPrivate = table[keys.allowPrivate] ?? outer.allowsPrivate
        keepsHistory = table[keys.keepHistory] ?? outer.keepsHistory
        freshWithin = table[keys.freshWithin] ?? outer.freshWithin
        let rest = cache ?? .zero
        if let freshWithin, freshWithin <= rest, table.has(keys.freshWithin) || table.has(keys.cache) {
            let key = table.has(keys.freshWithin) ? keys.freshWithin : keys.cache
            table.report(
                key,
                cache == nil
                    ? "must be above 0"
                    : "the source would be stale between two good runs; 'fresh_within' must be longer than 'cache', "
                        + "\(rest.configured)")
        }
    }
}

/// Reads `schedule` and `time_zone`.
struct ScheduleReader {
    let table: DeclarationReader

    /// Returns the times of the key `schedule`, by the clocks of a time zone.
    func schedule(_ zone: NamedZone) -> CronSchedule? {
        guard let text = table[SourceKeys.all.schedule] else { return nil }
        do {
            return CronSchedule(text, timeZone: zone.name, fields: try CronFields(text), zone: zone.rules)
        } catch {
            table.report("schedule", "'\(text)' is not a schedule: \(error)")
            return nil
        }
    }

    func timeZone() -> NamedZone? {
        guard let name = table[SourceKeys.all.timeZone] else { return nil }
        do {
            return try table.timeZones.zone(name)
        } catch {
            table.report("time_zone", error.message)
            return nil
        }
    }
}
