import FeedDeclarations

/// A time zone by its name in tzdata.
struct NamedZone {
    var name: String
    var rules: TimeZoneRules

    static let utc = NamedZone(name: "UTC", rules: .utc)
}
