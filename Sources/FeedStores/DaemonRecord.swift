package import Foundation

/// A daemon that runs on a store which several daemons share.
package struct DaemonRecord: Sendable, Equatable {
    /// The seconds after which a daemon that gave no sign of life counts as dead, by the store's clock.
    package static let secondsToLive = 15
    /// The seconds between two signs of life.
    package static let secondsBetweenBeats = 5.0

    /// The name under which its runs hold their claims.
    package var id: String
    /// The machine and the process, for users: `web1:4711`.
    package var name: String
    package var startedAt: Date
    package var declared: DeclaredSources
    /// The fingerprint of the daemons among which it knows the sources to be shared; nil as long as it knows nobody. It
    /// starts nothing that is another's by these shares.
    package var sharing: String?

    package init(
        id: String, name: String, startedAt: Date, declared: DeclaredSources, sharing: String? = nil
    ) {
        self.id = id
        self.name = name
        self.startedAt = startedAt
        self.declared = declared
        self.sharing = sharing
    }
}
