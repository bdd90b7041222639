import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import TributaryStores

/// Gives `history`, `release` and `accept` access to the store. A store that does not exist yet counts as empty, and is
/// not created.
struct StoreReader {
    private let configuration: TributaryConfiguration

    init(_ configuration: TributaryConfiguration) { self.configuration = configuration }

    func runs(of source: String?, failed: Bool, limit: Int) throws -> [RunReport] {
        try configuration.openExistingStore()?.runs(of: source, failed: failed, limit: limit) ?? []
    }

    /// Returns the states of a source's requests, by their keys. Tables of an earlier version are brought up to date before.
    func requests(of source: String) throws -> [String: RequestState] {
        try configuration.openExistingStore(isWritten: true)?.states(of: source).requests ?? [:]
    }

    /// - Throws: ``Failure`` where there is no store yet, in which nothing can be deleted.
    func accept(_ sources: [String], until end: Date) throws {
        guard let store = try configuration.openExistingStore(isWritten: true) else {
            throw Failure.failed("there is no store yet, so that nothing can be deleted")
        }
        try store.accept(sources, until: end)
    }

    /// - Returns: the names of those sources that were held.
    func release(_ sources: [String]) throws -> [String] {
        try configuration.openExistingStore(isWritten: true)?.release(sources) ?? []
    }
}
