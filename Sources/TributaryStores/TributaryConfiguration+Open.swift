import FeedConfiguration
package import FeedDeclarations
package import FeedStores
import Foundation
package import GRDB
import FeedModel
import SQLiteStore

extension TributaryConfiguration {
    /// Opens the main store, creating it where it does not exist, and brings its schema up to date.
    ///
    /// - Parameter schema: idempotent SQL, run each time the store is opened.
    /// - Throws: `StoreError`.
    package func openStore(
        schema: String? = nil, registerMigrations: (inout DatabaseMigrator) -> Void = { _ in }
    ) throws -> any MainStore {
        switch store {
        case .file(let path): try SQLiteStore(path: path, schema: schema, registerMigrations: registerMigrations)
        case .server(let url): throw StoreError(.unavailable, url)
        }
    }

    /// Opens the main store for reading, as it is.
    ///
    /// - Returns: nil where there is none yet.
    /// - Throws: `StoreError`.
    package func openExistingStore() throws -> (any MainStore)? {
        switch store {
        case .file(let path):
            FileManager.default.fileExists(atPath: path) ? try SQLiteStore(readingAt: path) : nil
        case .server(let url): throw StoreError(.unavailable, url)
        }
    }
}
