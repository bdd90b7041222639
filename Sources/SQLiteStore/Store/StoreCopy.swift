import FeedModel
import Foundation
package import GRDB

/// A copy of a store, written by `backup`, to be restored.
package struct StoreCopy: Sendable {
    let path: String

    /// Checks that a file is a complete copy of a store, and not of a later version.
    ///
    /// - Parameter registerMigrations: adds the program's own migrations after Tributary's.
    /// - Throws: ``StoreError`` saying what the file is instead.
    package init(path: String, registerMigrations: (inout DatabaseMigrator) -> Void) throws {
        self.path = path
        var migrator = DatabaseMigrator()
        OwnMigrations.register(in: &migrator)
        registerMigrations(&migrator)
        let failure = { (why: String) in StoreError(.unavailable, "\(path) cannot be restored: \(why)") }
        var isFolder: ObjCBool = false
        guard !FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) || !isFolder.boolValue else {
            throw failure("it is a folder")
        }
        do {
            try DatabaseQueue.reading(path) { [migrator] db in
                guard try db.tableExists("tributary_run"), try db.tableExists("grdb_migrations") else {
                    throw failure("it is an SQLite database without Tributary's tables")
                }
                try OwnMigrations.checkAge(db, failure)
                guard try !migrator.hasBeenSuperseded(db) else {
                    throw failure("a later version of this program has written it; use that version")
                }
                let problems = try String.fetchAll(db, sql: "PRAGMA integrity_check(3)")
                guard problems == ["ok"] else {
                    throw failure("it is damaged: \(problems.joined(separator: "; "))")
                }
            }
        } catch let error as DatabaseError {
            throw failure(
                error.resultCode == .SQLITE_NOTADB
                    ? "it is not an SQLite database" : error.message ?? error.description)
        }
    }

    /// Returns the path at which ``replace(store:aside:)`` makes the new store.
    package static func temporaryPath(beside store: String) -> String {
        store + ".restoring-\(ProcessInfo.processInfo.processIdentifier)"
    }

    /// Replaces a store that is not open by the copy. The old store's files get another name at the moment when the
    /// copy gets the store's name.
    ///
    /// - Parameters:
    ///   - store: the store's path. A store need not exist.
    ///   - aside: the new path of the old store.
    /// - Throws: ``StoreError``; the store is then unchanged.
    package func replace(store: String, aside: String) throws {
        let failure = { (why: String) in StoreError(.unavailable, "\(store) cannot be replaced: \(why)") }
        let new = Self.temporaryPath(beside: store)
        defer { unlink(new) }
        do {
            unlink(new)
            // Made by SQLite, it would have other permissions than the store, and another owner.
            guard StoreMode.makeFile(at: new, besideStore: store) else {
                throw failure(String(cString: strerror(errno)))
            }
            let source = try DatabaseQueue(path: path)
            let target = try DatabaseQueue(path: new)
            try source.backup(to: target)
            try target.close()
            try source.close()
            let file = try FileHandle(forUpdating: URL(fileURLWithPath: new))
            try file.synchronize()
            try file.close()
        } catch let error as StoreError {
            throw error
        } catch let error as DatabaseError {
            throw failure(error.message ?? error.description)
        } catch {
            throw failure(error.localizedDescription)
        }
        // A log that is left beside it would be taken for the copy's. An empty one is. Without its log, the store would lack
        // its last commits.
        var logs: [String] = []
        func giveUp() -> StoreError {
            let reason = String(cString: strerror(errno))
            for log in logs { rename(aside + log, store + log) }
            return failure(reason)
        }
        for suffix in ["-wal", "-journal"] where FileManager.default.fileExists(atPath: store + suffix) {
            guard rename(store + suffix, aside + suffix) == 0 else { throw giveUp() }
            logs.append(suffix)
        }
        unlink(store + "-shm")
        // Until the copy has the store's name, the store has both.
        if link(store, aside) != 0, errno != ENOENT { throw giveUp() }
        guard rename(new, store) == 0 else {
            let error = giveUp()
            unlink(aside)
            throw error
        }
        syncFolder(of: store)
    }
}
