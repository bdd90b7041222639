import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// The merge on the store's writing connection. The staged rows are in another database on it: the run's scratch file, or
/// memory.
final class SQLiteMergeDriver: MergeDriver {
    let db: Database
    let memory: StagingMemory
    let stack: StagedStack
    /// True if foreign keys are checked once at the end, rather than with each statement.
    let defersForeignKeys: Bool
    /// The staging tables that give row ids to new rows.
    let partsWithPlaces: Set<String>
    /// Keeps before-images; nil without a history.
    private(set) lazy var beforeImages = keepsHistory ? BeforeImages(self) : nil
    let run: Int64
    var histories: any HistoryCatalog { SQLiteHistories(db: db, memory: memory) }
    private let keepsHistory: Bool
    let isExact: Bool
    let dialect: any SQLDialect = SQLiteDialect()
    /// The largest row ids before the merge, by table.
    var lastRowIDs: [TableID: Int64] = [:]
    private var tables: [TableID: StoredTable?] = [:]
    private var workTables: Set<String> = []

    /// - Parameters:
    ///   - run: the number of the run.
    ///   - keepsHistory: true to keep before-images in the tables' histories.
    ///   - isExact: true to restore rows exactly, including their types: 1 and 1.0 are equal numbers.
    init(
        _ db: Database, _ memory: StagingMemory, _ stack: StagedStack, run: Int64, defersForeignKeys: Bool = true,
        keepsHistory: Bool = false, isExact: Bool = false, partsWithPlaces: Set<String> = []
    ) {
        self.db = db
        self.memory = memory
        self.stack = stack
        self.defersForeignKeys = defersForeignKeys
        self.partsWithPlaces = partsWithPlaces
        self.run = run
        self.keepsHistory = keepsHistory
        self.isExact = isExact
    }

    @discardableResult
    func execute(_ sql: SQLText) throws -> Int { try db.execute(sql) }

    func forEachRow(of sql: SQLText, _ body: (any SQLRow) throws -> Bool) throws { try db.forEachRow(of: sql, body) }

    // MARK: - The transaction

    func begin(_ merge: MergeContext) throws {
        if defersForeignKeys { try db.execute(sql: "PRAGMA defer_foreign_keys = ON") }
        try noteLastRowIDs()
    }

    // The transaction has locked the store.
    func lock(_ tables: [StoredTable]) throws {}

    // Foreign keys are checked by the commit, which names the row.
    func checkConstraints() throws {}

    func end() throws {
        // They outlive the stack.
        guard stack.path == nil else { return }
        for table in workTables { try db.execute(cached: "DELETE FROM \(table)") }
    }

    // MARK: - Tables

    func table(id: TableID) throws -> StoredTable? { try table(id) }

    func table(_ name: String) throws -> StoredTable? {
        let id = StoredTable.id(name)
        if let known = tables[id] { return known }
        let table = try memory.table(name, db)
        tables[id] = .some(table)
        return table
    }

    /// The names of the tables that the merge has asked for, those of the stack first.
    var usedTables: [String] {
        let staged = stack.parts.map(\.table.table.name)
        return staged + tables.values.compactMap { $0?.name }.filter { !staged.contains($0) }.sorted()
    }

    func hasTriggers(_ table: StoredTable) throws -> Bool {
        try db.isTrue(
            """
            SELECT EXISTS (
                SELECT 1 FROM (SELECT * FROM main.sqlite_schema UNION ALL SELECT * FROM temp.sqlite_schema)
                WHERE type = 'trigger' AND lower(tbl_name) = lower(\(bind: table.name)))
            """)
    }

    func makeTable(_ name: String, _ definition: String) throws -> String {
        let name = "tributary_\(name)_\(Fingerprint.hexadecimal(definition))"
        let table = "\(stack.schema).\(name.sqlIdentifier)"
        if stack.path == nil ? !memory.hasWorkTable(name) : !workTables.contains(table) {
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(table) (\(definition))")
        }
        try db.execute(cached: "DELETE FROM \(table)")
        workTables.insert(table)
        return table
    }

    func makeTable(_ name: String, of query: String) throws -> String {
        let table = "\(stack.schema).tributary_\(name)"
        try db.execute(sql: "DROP TABLE IF EXISTS \(table); CREATE TABLE \(table) AS \(query)")
        return table
    }

    // Statistics would make SQLite prepare every statement anew. CROSS JOIN says what it needs to know.
    func analyze(_ table: String) throws {}

    // MARK: - Errors

    func refusing<Value>(in table: String?, _ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch let error as DatabaseError where error.isAboutRows && (defersForeignKeys || !error.breaksForeignKey) {
            throw table.map { StoreError(error, in: $0, advice: db.advice(on: error)) } ?? error
        }
    }

    // A statement that fails changes nothing.
    func atomically<Value>(_ statement: () throws -> Value) throws -> Value { try statement() }

    func isUniqueViolation(_ error: any Error) -> Bool { (error as? DatabaseError)?.breaksUniqueness == true }

    func uniqueViolation(_ error: any Error, in table: StagingTable, hint: String) -> any Error {
        guard let error = error as? DatabaseError else { return error }
        return StoreError(
            .constraint, "table '\(table.table.name)': \(error.message ?? error.description)\(hint)")
    }

    // MARK: - Staged rows

    func indexKey(of part: StagedStack.Part) throws { try db.indexKey(of: part.table, counts: part.counts) }

    func indexIdentity(of part: StagedStack.Part) throws {
        let table = part.table
        guard !table.isIndexed else { return }
        let columns = table.identityColumns.map(\.sqlIdentifier).joined(separator: ", ")
        try db.execute(
            sql: "CREATE INDEX IF NOT EXISTS \(stack.schema).\(table.name)_reference ON \(table.name) (\(columns))")
    }

    func lookUp(
        _ reference: StagedReference, of part: StagedStack.Part, isStaying: SQLText, mark: String?
    ) throws {
        var source = "main.\(reference.target.name.sqlIdentifier)"
        var names = reference.lookups.compactMap { $0.column?.sqlIdentifier }
        var key = reference.targetKey.sqlIdentifier
        let isDeleted = mark.map { ["t.\($0) IS NOT NULL"] } ?? []
        var order = (isDeleted + (reference.findsOneRow ? [] : ["t.\(key)"])).joined(separator: ", ")
        if !order.isEmpty { order = " ORDER BY " + order }
        var conditions = isStaying.isEmpty ? [] : [isStaying]
        if reference.copiesTarget {
            let copy = "\(stack.schema).lookup"
            let found = names.map { "t." + $0 }.joined(separator: ", ")
            names = names.indices.map { "v\($0)" }
            let list = names.joined(separator: ", ")
            // An index serves comparisons with values of its column's affinity alone.
            let columns = zip(names, reference.lookups).map { "\($0) \($1.type)" }.joined(separator: ", ")
            try db.execute(sql: "DROP TABLE IF EXISTS \(copy); CREATE TABLE \(copy) (id, \(columns))")
            let rows: SQLText = "SELECT t.\(key), \(found) FROM \(source) t\(conditions.whereClause)\(order)"
            try execute(("INSERT INTO \(copy) \(rows)" as SQLText).once)
            try db.execute(sql: "CREATE INDEX \(copy)_values ON lookup (\(list))")
            (source, key, conditions, order) = (copy, "id", [], " ORDER BY t.rowid")
        }
        let isFound = zip(names, reference.lookups).map { SQLText("t.\($0) = s.\($1.staged.sqlIdentifier)") }
        try execute(
            """
            UPDATE \(part.table.qualifiedName) AS s SET \(reference.column.name.sqlIdentifier) = (
                SELECT t.\(key) FROM \(source) t\((isFound + conditions).whereClause)\(order) LIMIT 1)
            WHERE s.\(reference.lookups[0].staged.sqlIdentifier) IS NOT NULL
            """)
    }

    // MARK: - Deletions

    func delete(_ rows: RowList, with cascaded: [RowList], in merge: MergeContext) throws -> Int {
        let deletion = dialect.deletion(of: rows)
        do {
            try db.execute(cached: deletion)
        } catch let error as DatabaseError where !cascaded.isEmpty && error.isTooDeep {
            try deleteYoungest(of: cascaded, in: merge)
            try db.execute(cached: deletion)
        }
        return db.changesCount
    }

    /// Deletes the youngest of many generations, because SQLite follows only a thousand (limits.html,
    /// "SQLITE_MAX_TRIGGER_DEPTH").
    ///
    /// - Parameter cascaded: all rows that a deletion changes along.
    private func deleteYoungest(of cascaded: [RowList], in merge: MergeContext) throws {
        var generations = CascadedRows(merge: merge, name: "generation")
        let deleted = cascaded.filter { $0.change == .delete }
        for rows in deleted {
            let oldest = try generations.list(of: rows.table, .delete, columns: [])
            // Rows none of whose parents are deleted, too.
            let isParentless = deleted.flatMap { parents in
                parents.table.children.filter { $0.child == rows.table.id && $0.onDelete == .cascade }.map { key in
                    let isParent = zip(key.targets, key.columns).map {
                        "p.\($0.sqlIdentifier) = c.\($1.sqlIdentifier)"
                    }
                    return """
                        NOT EXISTS (
                            SELECT 1 FROM \(parents.table.sql) p CROSS JOIN \(parents.name) h
                                ON \(dialect.isListed(parents, "p", "h")) WHERE \(isParent.joinedConditions("AND")))
                        """
                }
            }
            try execute(
                dialect.append(
                    rows, to: oldest,
                    from: """
                        \(rows.name) g CROSS JOIN \(rows.table.sql) c ON \(rows.isRow("c", "g"))\(isParentless.whereClause)
                        """))
        }
        try generations.followAll(from: generations.all)
        // What is younger than the last milestone has been deleted already.
        var deletedFrom: [String: Int64] = [:]
        for milestone in generations.milestones.reversed() {
            for rows in generations.all where rows.change == .delete {
                let last = milestone[rows.name] ?? 0
                let locator = rows.table.locator.map(\.sql).joined(separator: ", ")
                let located = rows.located.joined(separator: ", ")
                try execute(
                    """
                    DELETE FROM \(rows.table.sql) WHERE (\(locator)) IN (
                        SELECT \(located) FROM \(rows.name)
                        WHERE id > \(bind: last) AND id <= \(bind: deletedFrom[rows.name] ?? .max))
                    """)
                deletedFrom[rows.name] = last
            }
        }
    }
}

extension DatabaseError {
    /// True if foreign keys lead through more generations of rows than SQLite follows.
    fileprivate var isTooDeep: Bool {
        resultCode == .SQLITE_ERROR && message?.contains("too many levels of trigger recursion") == true
    }

    /// True if the rows are what SQLite refuses, and not if the store cannot be written or the commit is stopped.
    fileprivate var isAboutRows: Bool {
        ![
            .SQLITE_FULL, .SQLITE_BUSY, .SQLITE_INTERRUPT, .SQLITE_IOERR, .SQLITE_CORRUPT, .SQLITE_READONLY,
            .SQLITE_NOMEM,
        ]
        .contains(resultCode)
    }
}
