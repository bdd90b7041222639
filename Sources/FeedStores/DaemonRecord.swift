import FeedModel
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

/// The sources that a daemon declares, in groups that go to one daemon together: all that ask the same host first.
package struct DeclaredSources: Sendable, Equatable {
    /// The group of each source by the source's name.
    package let groups: [String: String]
    /// Differs where any name or group does.
    package let fingerprint: String

    package init(_ groups: [String: String]) {
        self.groups = groups
        let lines = groups.map { "\($0.key)\u{0}\($0.value)\n" }.sorted()
        fingerprint = Fingerprint.hexadecimal(lines.joined())
    }

    /// The names by their groups, as JSON.
    package func json() throws -> String {
        let names = Dictionary(grouping: groups.keys) { groups[$0] ?? "" }
        return String(decoding: try JSONEncoder().encode(names.mapValues { $0.sorted() }), as: UTF8.self)
    }

    /// - Throws: `DecodingError`
    package init(json: String) throws {
        let names = try JSONDecoder().decode([String: [String]].self, from: Data(json.utf8))
        var groups: [String: String] = [:]
        for (group, members) in names {
            for name in members { groups[name] = group }
        }
        self.init(groups)
    }
}
