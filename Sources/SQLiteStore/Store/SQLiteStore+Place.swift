import FeedModel
import GRDB

extension SQLiteStore {
    /// Brings everything that a store has committed into its file. No log is left beside it, unless another program has
    /// the store open.
    ///
    /// - Throws: ``StoreError``
    package static func bringIntoFile(_ path: String) throws {
        do {
            let queue = try DatabaseQueue(path: path)
            // The last connection that closes removes the log.
            try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
            try queue.close()
        } catch let error as DatabaseError {
            throw StoreError(.unavailable, "the store \(path) is in use: \(error.message ?? error.description)")
        }
    }
}
