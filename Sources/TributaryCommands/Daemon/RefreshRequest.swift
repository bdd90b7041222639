import FeedDeclarations
import FeedStores
import Foundation
import TributaryStores

/// A request to the daemons of a configuration's store to refresh sources now: to the one on a file through its folder, to
/// those on a server through the server.
struct RefreshRequest {
    /// The daemons that were asked.
    enum Asked {
        case process(Int32)
        case daemons([String])

        /// For people.
        var text: String {
            switch self {
            case .process(let id): "the daemon (process \(id))"
            case .daemons(let names): names.joined(separator: " and ")
            }
        }
    }

    let configuration: TributaryConfiguration

    /// - Parameter sources: no names mean all sources.
    /// - Throws: ``Failure`` where no daemon runs that knows the sources.
    func send(_ sources: [String]) throws -> Asked {
        if let folder = DaemonFolder(configuration) { return .process(try folder.requestRefresh(sources)) }
        guard let store = try configuration.openExistingStore() as? any SharedStore else {
            throw Self.nobody("the store")
        }
        defer { try? store.close() }
        let daemons = try SharedDaemons(of: store)
        guard !daemons.records.isEmpty else { throw Self.nobody(store.name) }
        let strangers = sources.filter { daemons.owner(of: $0) == nil }
        guard strangers.isEmpty else {
            throw Failure.failed(
                "no daemon that runs on \(store.name) declares \(strangers.joined(separator: ", ")); reload them, or use "
                    + "'sync'")
        }
        try store.requestRefresh(sources)
        let owners = sources.isEmpty ? daemons.records.map(\.name) : sources.compactMap(daemons.owner)
        return .daemons(Set(owners).sorted())
    }

    /// Sends the request where a daemon runs that knows the sources.
    ///
    /// - Returns: nil where none does.
    func sendIfPossible(_ sources: [String]) throws -> Asked? {
        if let folder = DaemonFolder(configuration) { return folder.isDaemonRunning ? try send(sources) : nil }
        guard let store = try configuration.openExistingStore() as? any SharedStore else { return nil }
        let daemons = try SharedDaemons(of: store)
        try store.close()
        return sources.allSatisfy { daemons.owner(of: $0) != nil } ? try send(sources) : nil
    }

    static func nobody(_ store: String) -> Failure {
        .failed("no daemon runs on \(store); start one with 'run', or use 'sync'")
    }
}
