import FeedModel
package import Foundation
import FeedStores
import GRDB

/// What is asked of a store to tell how it is.
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

    package func lastSuccesses(of sources: [String]) throws -> [String: Date] {
        guard !sources.isEmpty else { return [:] }
        return try pool.read { db in
            let last = try db.cachedStatement(
                sql: """
                    SELECT started_at FROM tributary_run WHERE source = ? AND outcome IN ('committed', 'unchanged')
                    ORDER BY id DESC LIMIT 1
                    """)
            return try sources.reduce(into: [:]) { dates, source in
                dates[source] = try String.fetchOne(last, arguments: [source]).flatMap(StoreDate.date)
            }
        }
    }
}
