import FeedModel

/// The daemon to which each source belongs, by rendezvous hashing: of the daemons that live and declare a source, the one
/// with the highest score for the source's group. No daemon gets more than a little over an even share, so that a group
/// may go to the next in its order. When a daemon comes or goes, its own share moves, and little else.
package struct DaemonShares: Sendable {
    /// A daemon's share beyond an even one.
    private static let slack = 0.04

    private let owners: [String: String]
    /// Changes with the daemons and their declarations. Daemons with the same fingerprint agree on every owner.
    package let fingerprint: String

    /// - Parameter daemons: the living daemons.
    package init(_ daemons: [DaemonRecord]) {
        let daemons = daemons.sorted { $0.id < $1.id }
        fingerprint = Self.fingerprint(of: daemons)
        owners = Self.owners(of: Self.units(daemons), among: daemons.count)
    }

    private static func fingerprint(of daemons: [DaemonRecord]) -> String {
        Fingerprint.hexadecimal(
            daemons.sorted { $0.id < $1.id }.map { "\($0.id) \($0.declared.fingerprint)" }.joined(separator: "\n"))
    }

    /// True as long as the same daemons live, and declare the same.
    package func stand(for daemons: [DaemonRecord]) -> Bool { fingerprint == Self.fingerprint(of: daemons) }

    /// Returns the id of a source's daemon; nil if no daemon declares it.
    package func owner(of source: String) -> String? { owners[source] }

    /// Returns the sources that belong to a daemon.
    package func sources(of id: String) -> Set<String> { Set(owners.filter { $0.value == id }.keys) }

    /// Returns true if every daemon has published these shares, except one.
    package func areAgreed(among daemons: [DaemonRecord], except id: String) -> Bool {
        daemons.allSatisfy { $0.id == id || $0.sharing == fingerprint }
    }

    /// Sources that stay together: the same daemons declare them in the same groups.
    private struct Unit {
        /// The daemons that declare the sources, the preferred one first.
        var candidates: [String]
        var sources: [String]
        /// Decides the turn of units of the same size.
        var hash: UInt64
    }

    private static func units(_ daemons: [DaemonRecord]) -> [Unit] {
        var sources: [[String?]: [String]] = [:]
        for source in Set(daemons.flatMap(\.declared.groups.keys)) {
            sources[daemons.map { $0.declared.groups[source] }, default: []].append(source)
        }
        return sources.map { groups, sources in
            let scored = zip(daemons, groups).compactMap { daemon, group in
                group.map { (id: daemon.id, score: score(daemon.id, $0)) }
            }
            return Unit(
                candidates: scored.sorted { $0.score > $1.score }.map(\.id), sources: sources,
                hash: Fingerprint.hash(groups.compactMap { $0 }.joined(separator: "\n")))
        }
    }

    /// Gives each unit to the first of its candidates that has room for it, or else to the one with the fewest sources.
    /// The largest come first, as the small ones then level out.
    private static func owners(of units: [Unit], among daemons: Int) -> [String: String] {
        let count = units.reduce(0) { $0 + $1.sources.count }
        let room = Int((Double(count) / Double(max(1, daemons)) * (1 + slack)).rounded(.up))
        var loads: [String: Int] = [:]
        var owners: [String: String] = [:]
        let inTurn = units.sorted { ($1.sources.count, $1.hash) < ($0.sources.count, $0.hash) }
        for unit in inTurn {
            let withRoom = unit.candidates.first { loads[$0, default: 0] + unit.sources.count <= room }
            guard let owner = withRoom ?? unit.candidates.min(by: { loads[$0, default: 0] < loads[$1, default: 0] })
            else { continue }
            loads[owner, default: 0] += unit.sources.count
            for source in unit.sources { owners[source] = owner }
        }
        return owners
    }

    private static func score(_ daemon: String, _ group: String) -> UInt64 {
        SHA256.digest(of: Array("\(daemon)\n\(group)".utf8)).number(0)
    }
}
