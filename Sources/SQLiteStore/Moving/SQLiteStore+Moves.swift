import CSQLite
import FeedModel
package import FeedStores
import Foundation
import FeedStaging
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

    package func read(_ body: (any TransferReader) throws -> Void) throws {
        do {
            try pool.read { db in
                let columns = try db.columns(in: TransferTable.requests).map(\.name)
                guard columns.contains("bodies") else {
                    throw StoreError(
                        .unavailable,
                        "the tables of the store \(path) are those of an earlier Tributary; run 'tributary sync' or the daemon "
                            + "once, which brings them up to date")
                }
                try body(SQLiteTransfer(store: self, db: db))
            }
        } catch let error as DatabaseError {
            throw StoreError(.database, "the store \(path) cannot be read: \(error.message ?? error.description)")
        }
    }

    /// Tributary's own tables stay: a new file is removed as a whole.
    package func dropEmptyTables(_ names: [String], andOwn areAll: Bool) throws {
        do {
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
        } catch let error as DatabaseError {
            throw StoreError(commit: error, path: path)
        }
    }

    package func receive(_ body: (any TransferWriter) throws -> Void) throws {
        do {
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
        } catch let error as DatabaseError {
            throw StoreError(commit: error, path: path)
        }
    }
}
