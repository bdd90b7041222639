import FeedDeclarations

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
