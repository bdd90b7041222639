import FeedModel

/// A named stack of requests, as `sources.toml` declares it.
public struct SourceDeclaration: Sendable, Equatable {
    public var name: String
    /// The time for which the rows of a good run are fresh.
    public var cache: Duration
    /// True if the declaration has a `cache`. Without one, the server's freshness and validators decide too.
    public var hasOwnCache = true
    /// The times at which the source is run, instead of `cache`.
    public package(set) var schedule: CronSchedule?
    /// True if a server's max-age or Expires may postpone the next poll.
    public var honorsMaxAge = true
    /// How long after its last good run the source is stale; nil if it never is.
    public var freshWithin: Duration?
    /// True if commits keep before-images in the tables' histories.
    public var keepsHistory = false
    /// How long before-images are kept, and shown as versions of the rows; nil for as long as runs are, without that.
    public var historyKept: Duration?
    public var isEnabled: Bool
    public var requests: [RequestDeclaration]
    /// A text that changes when anything in the declaration does. It is set once the whole declaration has been read.
    package var identity = ""
    /// False for a source of a file with mistakes that has not been read, and stands for its state in the store.
    package private(set) var isRead = true
}

extension SourceDeclaration {
    /// Creates the source of a file with mistakes of which only this is known.
    package init(
        unread name: String, cache: Duration = .seconds(15 * 60), schedule: CronSchedule? = nil,
        freshWithin: Duration? = nil, isEnabled: Bool = true
    ) {
        self.init(
            name: name, cache: cache, schedule: schedule, freshWithin: freshWithin, isEnabled: isEnabled, requests: [])
        isRead = false
    }

    /// True if bodies of any of its requests are kept.
    package var keepsBodies: Bool { requests.contains(where: \.keepsBodies) }

    /// The credentials of its requests, with their secrets.
    package var credentials: [Authentication?] { requests.map(\.authentication) }
}

/// The sources that are declared and switched on, with the time after which each is stale.
package struct WatchedSources: Sendable, Equatable {
    package let names: Set<String>
    /// ``SourceDeclaration/freshWithin`` in seconds, where it is declared.
    package let freshWithin: [String: Double]

    package init(_ names: Set<String> = [], freshWithin: [String: Double] = [:]) {
        self.names = names
        self.freshWithin = freshWithin
    }
}

extension TributaryConfiguration {
    package var watched: WatchedSources {
        WatchedSources(
            Set(enabledSources.map(\.name)),
            freshWithin: enabledSources.reduce(into: [:]) { $0[$1.name] = $1.freshWithin?.seconds })
    }
}
