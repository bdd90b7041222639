import FeedModel
import Foundation

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
