import CSQLite
import FeedModel
import FeedStaging
package import FeedStores
import Foundation
import GRDB

/// The way of another store's content into this one, and of this one's into another.
extension SQLiteStore {
    package func identity() throws -> String {
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw StoreError(.unavailable, "the store \(path) cannot be read: \(String(cString: strerror(errno)))")
        }
        return "file \(status.st_dev) \(status.st_ino)"
    }

    package func snapshot(_ body: (any TransferReader) throws -> Void) throws {
        try reading { try pool.read { try body(SQLiteTransfer(store: self, db: $0)) } }
    }

    /// Tributary's own tables stay: a new file is removed as a whole.
    package func dropEmptyTables(_ names: [String], andOwn areAll: Bool) throws {
        try writing {
            try pool.writeWithoutTransaction { db in
                try db.withoutForeignKeyChecks {
                    try db.inTransaction(.immediate) {
                        for name in try names.filter({ try db.tableExists($0) }) {
                            let table = "main.\(name.sqlIdentifier)"
                            guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM \(table))") == false else {
                                throw StoreError(.conflict, "there are rows in \(name)")
                            }
                            try db.execute(sql: "DROP TABLE \(table)")
                        }
                        return .commit
                    }
                }
            }
        }
    }

    package func receive(_ body: (any TransferWriter) throws -> Void) throws {
        try writing {
            try checkFile()
            try pool.writeWithoutTransaction { db in
                // All rows are there before references are looked at.
                try db.withoutForeignKeyChecks {
                    try db.inTransaction(.immediate) {
                        try body(SQLiteTransfer(store: self, db: db))
                        try checkFile()
                        return .commit
                    }
                }
            }
        }
    }
}

/// Operations on a store's file as a whole, while it is not in use.
extension SQLiteStore {
    /// Copies all commits of a store into its file. No log is left beside it, unless another program has the store
    /// open.
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

    /// Takes the lock of each source of a store, of any version, before it is replaced.
    ///
    /// - Parameter declared: sources that may run although the store does not know them.
    /// - Returns: the locks, and true if the store is damaged and its sources could not be read.
    /// - Throws: ``StoreError`` if it cannot be opened for another reason, or naming the running sources.
    package static func claim(replaced path: String, declared: Set<String>) throws
        -> (claims: [any SourceClaim], isDamaged: Bool)
    {
        var sources = declared
        var isDamaged = false
        do {
            let known = try DatabaseQueue.reading(path) { db -> Set<String> in
                guard try db.tableExists("tributary_source") else { return [] }
                return try String.fetchSet(db, sql: "SELECT source FROM tributary_source")
            }
            sources.formUnion(known)
        } catch let error as DatabaseError {
            guard [.SQLITE_NOTADB, .SQLITE_CORRUPT].contains(error.resultCode) else {
                throw StoreError(
                    .unavailable, "the store \(path) cannot be opened: \(error.message ?? error.description)")
            }
            isDamaged = true
        }
        let claims = try [any SourceClaim].all(of: sources, on: path) {
            try RunLock(storePath: path, fingerprint: Fingerprint.hash($0))
        }
        return (claims, isDamaged)
    }
}
