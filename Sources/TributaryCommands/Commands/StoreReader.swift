import FeedDeclarations
import FeedModel
import FeedStore
import Foundation
import TributaryEngine

/// Gives `status`, `history` and `release` access to the store. A store that does not exist yet counts as empty, and is
/// not created.
struct StoreReader {
    private let path: String

    init(_ configuration: TributaryConfiguration) { path = configuration.storePath }

    func states() throws -> [String: SourceState] { try store()?.sourceStates() ?? [:] }

    func runs(of source: String?, failed: Bool, limit: Int) throws -> [RunReport] {
        try store()?.runs(of: source, failed: failed, limit: limit) ?? []
    }

    /// - Returns: the names of those sources that were held.
    func release(_ sources: [String]) throws -> [String] { try store()?.release(sources) ?? [] }

    private func store() throws -> MainStore? {
        FileManager.default.fileExists(atPath: path) ? try MainStore(path: path) : nil
    }
}
