import FeedDeclarations
import FeedModel
import FeedStores
import TributaryStores

/// Gives `history` and `release` access to the store. A store that does not exist yet counts as empty, and is
/// not created.
struct StoreReader {
    private let configuration: TributaryConfiguration

    init(_ configuration: TributaryConfiguration) { self.configuration = configuration }

    func runs(of source: String?, failed: Bool, limit: Int) throws -> [RunReport] {
        try configuration.openExistingStore()?.runs(of: source, failed: failed, limit: limit) ?? []
    }

    /// - Returns: the names of those sources that were held.
    func release(_ sources: [String]) throws -> [String] {
        try configuration.openExistingStore(isWritten: true)?.release(sources) ?? []
    }
}
