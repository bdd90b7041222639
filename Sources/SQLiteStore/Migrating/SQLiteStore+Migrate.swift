package import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// Existing tables that are made as their declarations want them, with their rows.
extension SQLiteStore {
    /// Returns what would make existing tables as declared; none for tables that are so.
    package func migrations(to definitions: [TableSchema]) throws -> [TableMigration] {
        try pool.read { db in
            let all = definitions.mergedByTable
            return try all.compactMap { try TableRebuild($0, among: all, db)?.migration }
        }
    }

    /// Makes existing tables as declared, all of them or none.
    ///
    /// - Returns: the migrations.
    /// - Throws: ``StoreError`` naming a value that the new type does not accept, or rows with the same new key; the
    ///   store
    ///   is then unchanged.
    package func migrate(to definitions: [TableSchema]) throws -> [TableMigration] {
        let lock = try RunLock(schemaOf: path)
        defer { lock?.unlock() }
        var done: [TableMigration] = []
        do {
            try pool.writeWithoutTransaction { db in
                // Foreign keys and triggers that name the table are to name the new one (lang_altertable.html, "Making Other
                // Kinds Of Table Schema Changes").
                try db.execute(sql: "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON")
                let result = Result {
                    try db.inTransaction(.immediate) {
                        let all = definitions.mergedByTable
                        for definition in all {
                            guard let rebuild = try TableRebuild(definition, among: all, db) else { continue }
                            try rebuild.run(db)
                            done.append(rebuild.migration)
                        }
                        try db.checkForeignKeys(ending: "nothing was changed")
                        return .commit
                    }
                }
                try db.execute(sql: "PRAGMA legacy_alter_table = OFF; PRAGMA foreign_keys = ON")
                do { try result.get() } catch let error as DatabaseError {
                    throw StoreError(
                        .schema,
                        "the tables cannot be migrated, and nothing was changed: \(error.message ?? error.description)"
                            + db.advice(on: error))
                }
            }
        } catch let error as DatabaseError {
            throw StoreError(
                .schema, "the tables cannot be migrated, and nothing was changed: \(error.message ?? error.description)"
            )
        }
        try renewTableInfos(of: nil)
        return done
    }
}
