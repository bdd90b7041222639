import FeedModel
import FeedStaging
import GRDB
import FeedStores

/// The staging tables of small stacks, and the merge's work tables for them, in a temporary database that stays attached to
/// the store's writing connection. They outlive the stack for which they were made, so that its prepared statements serve the
/// next stack of its shape.
///
/// The database is in its page cache, and in an unlinked file of the work folder beyond that: a small feed may delete any
/// number of rows, all of which a work table lists.
///
/// `@unchecked Sendable`: used only by the holder of the writing connection, which GRDB gives to one at a time.
final class StagingMemory: @unchecked Sendable {
    static let databaseName = "memory"
    /// In KiB.
    private static let cacheSize = 4_096
    /// The most shapes with prepared statements. Beyond it, all are dropped and prepared again.
    static let maximumShapes = 128

    private var names: [Key: String] = [:]
    /// Tables that were mirrored: they have prepared statements even without a staged row.
    private var mirrored: Set<String> = []
    /// The merge's own tables: existing ones, and those of the current transaction.
    private var workTables: Set<String> = []
    private var newWorkTables: Set<String> = []

    /// The main store's tables, and the schema version from which they were read (pragma.html, "schema_version").
    private var schema: (version: Int, foreignKeys: ForeignKeyGraph, tables: [TableID: StoredTable?])?

    /// True from the beginning of a transaction until its commit.
    private var isOpen = false

    private struct Key: Hashable {
        /// The store's table. Statements name it, so that each has a staging table of its own.
        var table: String
        var definition: String
        var identity: [String]
        /// A number that distinguishes staging tables of one definition within a stack.
        var ordinal: Int
    }

    static func attach(to db: Database) throws {
        // An empty name is a temporary file, which is made when the cache is full (inmemorydb.html).
        try db.execute(
            sql: "ATTACH DATABASE '' AS \(databaseName); PRAGMA \(databaseName).cache_size = -\(cacheSize)")
    }

    /// Gives a stack's rows tables of their own, outside the transaction in which they will be merged.
    ///
    /// - Parameter mirrors: the rows that the stack mirrors, perhaps without staging one.
    func makeTables(for stack: StagedStack, mirrors: [MirroredRows], _ db: Database) throws -> StagedStack {
        guard stack.path == nil else { return stack }
        if names.count + stack.parts.count + mirrored.union(mirrors.map(\.table)).count > Self.maximumShapes
            || workTables.count > 2 * Self.maximumShapes
        {
            try removeTables(db)
        }
        mirrored.formUnion(mirrors.map(\.table))
        var stack = stack
        var ordinals: [Key: Int] = [:]
        for index in stack.parts.indices {
            var table = stack.parts[index].table
            var key = Key(
                table: table.table.name, definition: table.definition, identity: table.identityColumns, ordinal: 0)
            let ordinal = ordinals[key, default: 0]
            ordinals[key] = ordinal + 1
            key.ordinal = ordinal
            table.schema = Self.databaseName
            table.isIndexed = true
            if let name = names[key] {
                table.name = name
            } else {
                table.name = "tributary_stage_\(names.count + 1)"
                try db.inTransaction(.deferred) {
                    try db.execute(sql: table.creationSQL)
                    try db.execute(sql: table.indexSQL(isUnique: false))
                    if table.numbersRecords { try db.execute(sql: table.duplicatesCreationSQL) }
                    return .commit
                }
                names[key] = table.name
            }
            stack.parts[index].table = table
        }
        return stack
    }

    /// Returns a table of the main store, read again after a change of the schema; nil if it does not exist.
    func table(_ name: String, _ db: Database) throws -> StoredTable? {
        let version = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA main.schema_version")) ?? 0
        if schema?.version != version { schema = (version, try ForeignKeyGraph(db), [:]) }
        let id = StoredTable.id(name)
        if let known = schema?.tables[id] { return known }
        let table = try StoredTable(db, table: name, schema: "main", schema?.foreignKeys)
        schema?.tables[id] = .some(table)
        return table
    }

    /// Returns true if a table of the merge exists already, and notes that it exists from now on.
    func hasWorkTable(_ name: String) -> Bool { workTables.contains(name) || !newWorkTables.insert(name).inserted }

    /// Forgets the tables that an unfinished transaction made: they were rolled back with it.
    func beginTransaction() {
        newWorkTables = []
        // A transaction that was rolled back may have read a schema of its own, whose version the next change has
        // again.
        if isOpen { schema = nil }
        isOpen = true
    }

    func endTransaction() {
        isOpen = false
        workTables.formUnion(newWorkTables)
        newWorkTables = []
    }

    private func removeTables(_ db: Database) throws {
        // The prepared statements go first: they would keep the tables locked.
        db.releaseMemory()
        try db.execute(sql: "DETACH DATABASE \(Self.databaseName)")
        names = [:]
        mirrored = []
        workTables = []
        try Self.attach(to: db)
    }
}

/// Rows that have stayed in memory until they are merged.
extension StagedStack {
    /// Writes them to their staging tables, and prepares these as a scratch database's tables are when it is closed.
    func writeBatches(_ db: Database) throws {
        guard path == nil else { return }
        for part in parts {
            part.counts.reset()
            for batch in part.batches { try db.write(batch, into: part.table, counts: part.counts) }
        }
        try db.keepLast(of: parts.map { ($0.table, $0.counts) }, without: skippedNumbers)
    }

    /// Leaves the staging tables empty for the next stack.
    func removeBatches(_ db: Database) throws {
        guard path == nil else { return }
        for part in parts {
            try db.execute(cached: "DELETE FROM \(part.table.qualifiedName)")
            if part.counts.hasDuplicates { try db.execute(cached: "DELETE FROM \(part.table.duplicates)") }
        }
    }
}
