import FeedModel
import Foundation
import GRDB

/// The checks of a store's health.
extension SQLiteStore {
    package func probe() throws {
        try checkPlace()
        try probing.check()
    }

    /// The bytes of the file and of its log.
    package func size() throws -> Int64 {
        var bytes: Int64 = 0
        for path in [path, path + "-wal"] {
            var status = stat()
            if stat(path, &status) == 0 { bytes += Int64(status.st_size) }
        }
        return bytes
    }

}
