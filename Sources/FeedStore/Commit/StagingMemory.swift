import FeedModel
import GRDB

/// The staging tables of small stacks: in a database in memory, which stays attached to the store's writing connection.
/// They outlive the stack for which they were made, so that the statements prepared for it serve the next of its shape.
///
/// `@unchecked Sendable`: used only by whoever has the writing connection, which GRDB gives to one at a time.
final class StagingMemory: @unchecked Sendable {
    static let schema = "memory"
    /// For how many tables, and ways of staging them, statements are kept prepared. All go when there would be more.
    static let maximumShapes = 128

    private var names: [Key: String] = [:]
    /// Tables that were mirrored: their statements are there without a staged row.
    private var mirrored: Set<String> = []
    /// The merge's own tables that are there, and those that the transaction under way has made.
    private var workTables: Set<String> = []
    private var newWorkTables: Set<String> = []

    /// What foreign keys do, and of which schema (pragma.html, "schema_version").
    private var foreignKeys: (version: Int, graph: ForeignKeyGraph)?

    private struct Key: Hashable {
        /// The store's table. Statements name it, so that each has a staging table of its own.
        var table: String
        var definition: String
        var identity: [String]
        /// Tells staging tables of one definition apart within a stack.
        var ordinal: Int
    }

    static func attach(to db: Database) throws {
        try db.execute(sql: "ATTACH DATABASE ':memory:' AS \(schema)")
    }

    /// Gives a stack's rows tables of their own, outside the transaction in which they will be merged.
    ///
    /// - Parameter mirrors: what the stack mirrors, perhaps without a row.
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
            table.schema = Self.schema
            table.isIndexed = true
            if let name = names[key] {
                table.name = name
            } else {
                table.name = "tributary_stage_\(names.count + 1)"
                try db.inTransaction(.deferred) {
                    try db.execute(sql: table.creationSQL)
                    try db.execute(sql: table.indexSQL(isUnique: false))
                    if table.numbersRecords { try db.execute(sql: table.twinsCreationSQL) }
                    return .commit
                }
                names[key] = table.name
            }
            stack.parts[index].table = table
        }
        return stack
    }

    /// What the main store's foreign keys do, read anew when its schema has changed.
    func foreignKeys(_ db: Database) throws -> ForeignKeyGraph {
        let version = try Int.fetchOne(db.cachedStatement(sql: "PRAGMA main.schema_version")) ?? 0
        if let foreignKeys, foreignKeys.version == version { return foreignKeys.graph }
        let graph = try ForeignKeyGraph(db)
        foreignKeys = (version, graph)
        return graph
    }

    /// Whether a table of the merge is there already; it is from now on.
    func hasWorkTable(_ name: String) -> Bool { workTables.contains(name) || !newWorkTables.insert(name).inserted }

    /// What another transaction made went with it, if it did not end.
    func beginTransaction() { newWorkTables = [] }

    func endTransaction() {
        workTables.formUnion(newWorkTables)
        newWorkTables = []
    }

    private func removeTables(_ db: Database) throws {
        // Their prepared statements go first: they would keep the tables locked.
        db.releaseMemory()
        try db.execute(sql: "DETACH DATABASE \(Self.schema)")
        names = [:]
        mirrored = []
        workTables = []
        try Self.attach(to: db)
    }
}
