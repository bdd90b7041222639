import FeedConfiguration
package import FeedDeclarations
package import FeedStores
import Foundation
package import GRDB
import PostgresStore
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
        case .server(let url): try PostgresStore(url: url, workFolder: localPath + "-work", schema: schema)
        }
    }

    /// Creates a store in a file, in which something is tried before it is done to the main store.
    ///
    /// - Throws: `StoreError`.
    @Sendable package static func makeTrialStore(path: String, schema: String) throws -> any MainStore {
        try SQLiteStore(path: path, schema: schema)
    }

    /// Returns true where there is a store, perhaps of an earlier version.
    ///
    /// - Throws: `StoreError` where the server cannot be asked.
    package func hasStore() throws -> Bool {
        switch store {
        case .file(let path): FileManager.default.fileExists(atPath: path)
        case .server(let url): try PostgresStore.exists(at: url)
        }
    }

    /// Opens the main store, where there is one.
    ///
    /// - Parameter isWritten: false where it is opened as it is, for reading.
    /// - Returns: nil where there is none yet.
    /// - Throws: `StoreError`.
    package func openExistingStore(isWritten: Bool = false) throws -> (any MainStore)? {
        switch store {
        case .file(let path):
            if !FileManager.default.fileExists(atPath: path) {
                nil
            } else if isWritten {
                try SQLiteStore(path: path)
            } else {
                try SQLiteStore(readingAt: path)
            }
        case .server(let url):
            try isWritten
                ? PostgresStore(url: url, workFolder: localPath + "-work")
                : PostgresStore(readingAt: url, workFolder: localPath + "-work")
        }
    }
}
