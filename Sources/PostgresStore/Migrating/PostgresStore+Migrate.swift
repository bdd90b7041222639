package import FeedModel
import FeedStores
import PostgresClient

/// Existing tables that are made as their declarations want them, with their rows.
extension PostgresStore {
    /// Returns what would make existing tables as declared; none for tables that are so.
    package func migrations(to definitions: [TableSchema]) throws -> [TableMigration] {
        try ask { connection in
            try definitions.mergedByTable.compactMap { try TableAlteration($0, connection)?.migration }
        }
    }

    /// Makes existing tables as declared, all of them or none.
    ///
    /// - Returns: the migrations.
    /// - Throws: ``StoreError`` naming a value that the new type does not accept, or rows with the same new key; the
    ///   store
    ///   is then unchanged.
    package func migrate(to definitions: [TableSchema]) throws -> [TableMigration] {
        var done: [TableMigration] = []
        try changeSchema("the tables cannot be migrated, and nothing was changed") { connection in
            done = []
            for definition in definitions.mergedByTable {
                guard let alteration = try TableAlteration(definition, connection) else { continue }
                try alteration.run(connection)
                done.append(alteration.migration)
            }
        }
        return done
    }
}
