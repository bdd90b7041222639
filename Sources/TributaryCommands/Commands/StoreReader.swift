import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TributaryEngine
import TributaryStores

/// Gives `history`, `resume` and `accept` access to the store. A store that does not exist yet counts as empty, and is
/// not created.
struct StoreReader {
    private let configuration: TributaryConfiguration

    init(_ configuration: TributaryConfiguration) { self.configuration = configuration }

    func runs(of source: String?, failed: Bool, limit: Int) throws -> [RunReport] {
        try configuration.withExistingStore { store in
            try store?.read { try $0.runs.last(of: source, failed: failed, limit: limit) } ?? []
        }
    }

    /// Returns the number of a source's last blocked run; nil without one.
    func blockedRun(of source: String) throws -> Int64? {
        try runs(of: source, failed: true, limit: 100).first { $0.outcome == .blocked }?.number
    }

    func run(_ number: Int64) throws -> RunReport? {
        try configuration.withExistingStore { try $0?.read { try $0.runs.run(number) } }
    }

    func state(of source: String) throws -> SourceState? {
        // A database may have no tables of Tributary's yet.
        guard try configuration.hasStore() else { return nil }
        return try configuration.withExistingStore { try $0?.read { try $0.sources.all() }[source] }
    }

    /// Returns the states of sources, with the reasons for which they wait, while a daemon runs.
    func status(of sources: [String]) throws -> [SourceStatus] {
        try configuration.withExistingStore { store in
            try StoreStatus(configuration, only: sources, in: store, isDaemonRunning: true, now: Date()).sources
        }
    }

    /// Returns the states of a source's requests, by their keys.
    func requests(of source: String) throws -> [String: RequestState] {
        try configuration.withExistingStore { try $0?.states(of: source).requests ?? [:] }
    }

    /// - Throws: ``Failure`` where there is no store yet, in which nothing can be deleted, or where a source does not allow
    ///   it.
    ///
    /// - Parameter confirm: gets the permissions before they are given; what it throws keeps them from it.
    func accept(
        _ sources: [String], inAdvance: Bool, run: Int64?, confirm: ([Acceptance]) throws -> Void
    ) throws -> [Acceptance] {
        guard let store = try configuration.openExistingStore(isWritten: true) else {
            throw Failure.failed(configuration.noStore)
        }
        defer { try? store.close() }
        do {
            let waiting = try run.flatMap { run in
                try sources.first.flatMap { try configuration.waitingRun(for: run, of: $0, in: store) }
            }
            let shown = try store.acceptances(of: sources, inAdvance: inAdvance, run: waiting ?? run, at: Date())
            try confirm(shown)
            // Another run may be blocked by now, which nobody has confirmed.
            let accepted = try store.acceptances(of: sources, inAdvance: inAdvance, at: Date())
            guard accepted.map(\.run) == shown.map(\.run) else {
                throw Failure.failed("another run has been blocked meanwhile; nothing was accepted")
            }
            try store.write { try $0.acceptances.add(accepted) }
            return accepted
        } catch let refusal as Refusal {
            throw Failure.failed(refusal.description)
        }
    }

    /// - Returns: the names of those sources that were not paused before.
    func pause(_ sources: [String]) throws -> [String] {
        guard let store = try configuration.openExistingStore(isWritten: true) else {
            throw Failure.failed(
                "the store does not exist yet, so no source can be paused; `enabled = false` disables one")
        }
        defer { try? store.close() }
        return try store.write { try $0.sources.pause(sources, now: Date()) }
    }

    /// - Returns: the names of those sources that were paused.
    func resume(_ sources: [String]) throws -> [String] {
        try configuration.withExistingStore(isWritten: true) { try $0?.write { try $0.sources.resume(sources) } ?? [] }
    }
}
