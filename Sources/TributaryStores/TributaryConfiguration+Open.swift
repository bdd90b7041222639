package import FeedConfiguration
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
        case .server(let url):
            try PostgresStore(url: url, workFolder: localPath + "-work", schema: schema, connections: connections)
        }
    }

    /// Creates a store in a file, in which something is tried before it is done to the main store.
    ///
    /// - Throws: `StoreError`.
    @Sendable package static func makeTrialStore(path: String, schema: String) throws -> any MainStore {
        try SQLiteStore(path: path, schema: schema)
    }

    /// Returns true if there is a store, perhaps of an earlier version.
    ///
    /// - Throws: `StoreError` where the server cannot be used.
    package func hasStore() throws -> Bool {
        switch store {
        case .file(let path): try SQLiteStore.exists(at: path)
        case .server(let url): try PostgresStore.exists(at: url)
        }
    }

    /// Runs a body with the main store as ``openExistingStore(isWritten:)`` opens it, and closes it afterwards.
    ///
    /// - Throws: `StoreError`, the errors of the body.
    package func withExistingStore<Value>(
        isWritten: Bool = false, _ body: ((any MainStore)?) throws -> Value
    ) throws -> Value {
        let store = try openExistingStore(isWritten: isWritten)
        defer { try? store?.close() }
        return try body(store)
    }

    /// Opens the main store, where there is one. Whoever opens it closes it: the last who does brings the log of a store in
    /// SQLite into its file.
    ///
    /// - Parameters:
    ///   - isWritten: false if it is opened as it is, for reading.
    ///   - workFolder: the folder of scratch files; nil for the store's own.
    /// - Returns: nil without one yet, perhaps in a database of SQLite's that others have filled.
    /// - Throws: `StoreError`.
    package func openExistingStore(
        isWritten: Bool = false, workFolder: String? = nil
    ) throws -> (any MainStore)? {
        switch store {
        case .file(let path):
            if try !SQLiteStore.exists(at: path) {
                nil
            } else if isWritten {
                try SQLiteStore(path: path, workFolder: workFolder)
            } else {
                try SQLiteStore(readingAt: path)
            }
        case .server(let url):
            try isWritten
                ? PostgresStore(url: url, workFolder: workFolder ?? localPath + "-work", connections: connections)
                : PostgresStore(readingAt: url, workFolder: localPath + "-work")
        }
    }

    /// Opens a database for a look at its tables, even where none of them is Tributary's. It is only read.
    ///
    /// - Returns: nil if there is no file.
    /// - Throws: `StoreError`.
    package func openExistingTables() throws -> (any MainStore)? {
        guard case .file(let path) = store else { return try openExistingStore() }
        return FileManager.default.fileExists(atPath: path) ? try SQLiteStore(readingAt: path) : nil
    }
}
