import FeedStore
import Foundation
import TributaryEngine

/// The store as `status` and `history` read it: one that does not exist yet is empty, and is not created.
struct StoreReader {
    private let path: String

    init(_ configuration: TributaryConfiguration) { path = configuration.storePath }

    func states() throws -> [String: SourceState] { try store()?.sourceStates() ?? [:] }

    func runs(of source: String?, limit: Int) throws -> [RunReport] {
        try store()?.runs(of: source, limit: limit) ?? []
    }

    private func store() throws -> MainStore? {
        FileManager.default.fileExists(atPath: path) ? try MainStore(path: path) : nil
    }
}
