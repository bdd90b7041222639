import FeedModel

/// The daemon to which each source belongs, by rendezvous hashing: of the daemons that live and declare a source, the one
/// with the highest score for the source's group. When a daemon comes or goes, only its own share moves.
package struct DaemonShares: Sendable {
    private let daemons: [DaemonRecord]
    /// Differs where any daemon, or what it declares, does. Daemons with the same fingerprint agree on every owner.
    package let fingerprint: String

    /// - Parameter daemons: those that live.
    package init(_ daemons: [DaemonRecord]) {
        self.daemons = daemons.sorted { $0.id < $1.id }
        fingerprint = Fingerprint.hexadecimal(
            self.daemons.map { "\($0.id) \($0.declared.fingerprint)" }.joined(separator: "\n"))
    }

    /// Returns the id of the daemon to which a source belongs; nil where nobody declares it.
    package func owner(of source: String) -> String? {
        daemons.compactMap { (daemon) -> (score: UInt64, id: String)? in
            daemon.declared.groups[source].map { (Self.score(daemon.id, $0), daemon.id) }
        }.max { $0.score < $1.score }?.id
    }

    /// Returns the sources that belong to a daemon.
    package func sources(of id: String) -> Set<String> {
        guard let own = daemons.first(where: { $0.id == id }) else { return [] }
        guard daemons.count > 1 else { return Set(own.declared.groups.keys) }
        return Set(own.declared.groups.keys.filter { owner(of: $0) == id })
    }

    /// True where every daemon shares by these shares, but for one that asks.
    package func areAgreed(besides id: String) -> Bool {
        daemons.allSatisfy { $0.id == id || $0.sharing == fingerprint }
    }

    /// The hash's bits are mixed once more, as FNV-1a leaves the last letters of a text in its low bits.
    private static func score(_ daemon: String, _ group: String) -> UInt64 {
        var score = Fingerprint.hash(daemon + "\n" + group)
        score = (score ^ (score >> 33)) &* 0xff51_afd7_ed55_8ccd
        score = (score ^ (score >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return score ^ (score >> 33)
    }
}
