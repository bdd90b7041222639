import FeedModel
package import FeedStores
package import Foundation

/// The live daemons of a shared store, and their sources.
package struct SharedDaemons: Sendable {
    package let records: [DaemonRecord]
    private let shares: DaemonShares
    private let runners: [String: String]

    package init(of store: any SharedStore) throws {
        records = try store.daemons()
        shares = DaemonShares(records)
        runners = try store.runners()
    }

    /// Returns the name of the daemon that runs a source; nil if no daemon declares it.
    package func owner(of source: String) -> String? { shares.owner(of: source).flatMap(name) }

    /// Returns the name of the process that is running a source; nil if none is.
    package func runner(of source: String) -> String? { runners[source].map { name($0) ?? "no daemon" } }

    /// Returns the number of a daemon's sources.
    package func share(of record: DaemonRecord) -> Int { shares.sources(of: record.id).count }

    /// Returns the daemon of a source, and whether the source is running, as text.
    package func text(for source: String) -> String {
        guard let runner = runner(of: source) else { return owner(of: source) ?? "-" }
        return runner + ", running"
    }

    /// Returns the daemons with their shares, as text.
    package func summary(now: Date) -> String {
        records.map { record in
            let count = shares.sources(of: record.id).count
            let since = RelativeTime.duration(max(0, now.timeIntervalSince(record.startedAt)))
            return "\(record.name) (\(count) \(count == 1 ? "source" : "sources"), for \(since))"
        }.joined(separator: ", ")
    }

    private func name(_ id: String) -> String? { records.first { $0.id == id }?.name }
}
