import FeedModel
import FeedStore
import Foundation
import PostgresClient

/// The main store in a PostgreSQL database, which several daemons may share.
///
/// Its methods block their thread: none is called from the cooperative pool. A connection is held for a commit or a
/// short question, never while a feed is downloaded or parsed.
package final class PostgresStore: Sendable {
    /// The connection string, which goes to libpq as it is. It may hold a password: never shown.
    let connectionString: String
    let connections: ConnectionPool
    let tableDetails = TableDetailsCache()

    /// Connects to the database, and brings Tributary's own tables up to date.
    ///
    /// - Parameters:
    ///   - url: a connection string of libpq, as a URI or as keywords.
    ///   - workFolder: the folder of scratch databases.
    ///   - schema: idempotent SQL, run each time the store is opened.
    /// - Throws: ``StoreError`` naming the server, and what to do.
    package init(url: String, workFolder: String, schema: String? = nil) throws {
        connectionString = url
        self.workFolder = workFolder
        connections = ConnectionPool(url)
    }

    /// The folder of scratch databases.
    package let workFolder: String

    /// Closes every connection. The store must not be used afterwards.
    package func close() throws { connections.close() }
}
