import FeedModel
import Foundation
import GRDB
import FeedStores

/// The migrations of Tributary's own tables in a file.
enum OwnMigrations {
    /// Refuses tables of a newer program, whose meaning is unknown, and of the programs before the first release.
    ///
    /// - Parameter failure: makes an error of the reason.
    static func checkAge(_ db: Database, _ failure: (String) -> StoreError) throws {
        var migrator = DatabaseMigrator()
        register(in: &migrator)
        // A program may have migrations of its own in the same file.
        let names = try migrator.appliedIdentifiers(db).filter { $0.hasPrefix(TributaryVersion.migrationPrefix) }
        guard !names.isSubset(of: migrator.migrations) else { return }
        var applied: [(name: String, program: String?)] = []
        if try db.tableExists("tributary_migration") {
            applied = try Row.fetchAll(
                db, sql: "SELECT name, program FROM main.tributary_migration ORDER BY applied_at DESC"
            ).map { (name: $0["name"] as String, program: $0["program"] as String?) }.filter { names.contains($0.name) }
        }
        applied += names.subtracting(applied.map(\.name)).map { (name: $0, program: nil) }
        let reason = TributaryVersion.refusal(ofMigrations: applied, known: migrator.migrations)
        if let reason { throw failure(reason) }
    }

    /// Refuses such tables in a file. Called before the store is opened: GRDB writes to the log of a store that it
    /// opens for writing.
    ///
    /// - Throws: ``StoreError``
    static func checkAge(ofStore path: String, _ lockWait: LockWait) throws {
        guard FileManager.default.fileExists(atPath: path) else { return }
        do {
            try checkAge(ofStore: path, lockWait, isReadOnly: true)
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            // A power failure, or a kill, has cut off the creation of the store. SQLite undoes what there is of it first.
            try checkAge(ofStore: path, lockWait, isReadOnly: false)
        }
    }

    private static func checkAge(ofStore path: String, _ lockWait: LockWait, isReadOnly: Bool) throws {
        var configuration = Configuration()
        configuration.readonly = isReadOnly
        configuration.busyMode = .callback { [lockWait] in lockWait.pause(tries: $0) }
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        let check = Result {
            try queue.read { db in
                try checkAge(db) { StoreError(.unavailable, "the store \(path) cannot be opened: \($0)") }
            }
        }
        try queue.close()
        try check.get()
    }

    static func register(in migrator: inout DatabaseMigrator) {
        // Otherwise GRDB checks all rows of the file, and refuses a store with a broken reference of another program.
        migrator.registerMigration("tributary.1.0", foreignKeyChecks: .immediate) { db in
            try db.execute(sql: OwnTables.creation(.sqlite))
            try db.execute(
                sql: "INSERT INTO tributary_migration (name, program) VALUES ('tributary.1.0', ?)",
                arguments: [TributaryVersion.full])
        }
    }
}
