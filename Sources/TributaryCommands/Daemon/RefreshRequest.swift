import FeedConfiguration
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

/// A request to the daemons of a configuration's store to refresh sources now: to the one on a file through its folder, to
/// those on a server through the server.
struct RefreshRequest {
    /// The daemons that were asked.
    struct Asked {
        /// The process's id, on a store in a file.
        var process: Int32?
        /// The daemons' names, on a store that several share.
        var daemons: [String]?

        /// For people.
        var text: String {
            process.map { "the daemon (process \($0))" } ?? daemons?.joined(separator: " and ") ?? ""
        }
    }

    let configuration: TributaryConfiguration

    /// - Parameter sources: no names mean all sources.
    /// - Throws: ``Failure`` where no daemon runs that knows the sources.
    func send(_ sources: [String]) throws -> Asked {
        if let folder = DaemonFolder(configuration) { return Asked(process: try folder.requestRefresh(sources)) }
        return try withDaemons { store, daemons in
            guard !daemons.records.isEmpty else { throw Self.nobody(store.name) }
            let strangers = sources.filter { daemons.owner(of: $0) == nil }
            guard strangers.isEmpty else {
                throw Failure.failed(
                    "no daemon that runs on \(store.name) declares \(strangers.joined(separator: ", ")); reload them, or "
                        + "use 'sync'")
            }
            return try ask(daemons, of: store, sources)
        }
    }

    /// Sends the request where a daemon runs that knows the sources.
    ///
    /// - Returns: nil where none does.
    func sendIfPossible(_ sources: [String]) throws -> Asked? {
        if let folder = DaemonFolder(configuration) {
            return folder.isDaemonRunning ? Asked(process: try folder.requestRefresh(sources)) : nil
        }
        return try withDaemons { store, daemons in
            sources.allSatisfy { daemons.owner(of: $0) != nil } ? try ask(daemons, of: store, sources) : nil
        }
    }

    private func withDaemons<Value>(_ body: (any SharedStore, SharedDaemons) throws -> Value) throws -> Value {
        guard let store = try configuration.openExistingStore() as? any SharedStore else {
            throw Self.nobody("the store")
        }
        defer { try? store.close() }
        return try body(store, SharedDaemons(of: store))
    }

    private func ask(_ daemons: SharedDaemons, of store: any SharedStore, _ sources: [String]) throws -> Asked {
        try store.requestRefresh(sources)
        let owners = sources.isEmpty ? daemons.records.map(\.name) : sources.compactMap(daemons.owner)
        return Asked(daemons: Set(owners).sorted())
    }

    static func nobody(_ store: String) -> Failure {
        .failed("no daemon runs on \(store); start one with 'run', or use 'sync'")
    }
}
