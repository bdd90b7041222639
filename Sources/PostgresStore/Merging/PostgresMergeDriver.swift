import FeedModel
import FeedStaging
import FeedStores

/// The merge in a transaction of PostgreSQL's. The staged rows are in temporary tables, which ``prepare()`` fills before any
/// table of the store is locked.
final class PostgresMergeDriver: MergeDriver {
    let connection: PostgresConnection
    let store: PostgresStore
    /// The stack, with tables of the merge's own and counts of the merge's own: a commit may be repeated.
    let stack: StagedStack
    let tables: MergeTables
    let run: Int64
    let dialect: any SQLDialect = PostgresDialect()
    /// Keeps before-images; nil without a history.
    private(set) lazy var beforeImages = keepsHistory ? BeforeImages(self) : nil
    var histories: any HistoryCatalog { PostgresHistories(connection: connection, tables: tables) }
    private let keepsHistory: Bool
    let isExact: Bool
    private var workTables: Set<String> = []

    /// - Parameters:
    ///   - keepsHistory: true to keep before-images in the tables' histories.
    ///   - isExact: true to restore rows exactly, including their spelling: `1.0` and `1.00` are equal numbers.
    init(
        _ connection: PostgresConnection, _ store: PostgresStore, _ stack: StagedStack, run: Int64,
        keepsHistory: Bool = false, isExact: Bool = false
    ) {
        self.connection = connection
        self.store = store
        self.stack = stack.prepared
        self.run = run
        self.keepsHistory = keepsHistory
        self.isExact = isExact
        tables = MergeTables(connection, store.tableDetails)
    }

    @discardableResult
    func execute(_ sql: SQLText) throws -> Int { try connection.execute(sql) }

    func forEachRow(of sql: SQLText, _ body: (any SQLRow) throws -> Bool) throws {
        try connection.forEachRow(of: sql, body)
    }

    // MARK: - Before the merge

    /// Copies the staged rows into temporary tables, and keeps the last of several rows with one key. No table of the
    /// store is locked.
    ///
    /// - Throws: ``StoreError`` if a row cannot be stored, `PostgresError` for all else.
    func prepare(_ mirrors: [MirroredRows]) throws {
        let targets = stack.parts.flatMap { $0.table.references.map(\.target.name) }
        try tables.load(stack.parts.map(\.table.table.name) + targets + mirrors.map(\.table))
        if stack.path != nil { try raiseMemory() }
        for part in stack.parts where part.counts.rows > 0 || !part.batches.isEmpty {
            try copy(part)
        }
        try keepLast(of: stack.parts.map { ($0.table, $0.counts) }, without: stack.skippedNumbers)
    }

    /// The kilobytes for each sort and, twice as many, for each hash of a large merge.
    private static let memory = 32 << 10

    /// Lets the transaction sort and hash in more memory than the 4 MB that a role usually has, so that the rows of a large
    /// stack are not written to the server's disk once more. A role that has more keeps it.
    private func raiseMemory() throws {
        try connection.execute(
            """
            SELECT set_config('work_mem', greatest(pg_size_bytes(current_setting('work_mem')) / 1024, \(Self.memory))::text, true)
            """)
    }

    // MARK: - The transaction

    func begin(_ merge: MergeContext) throws { try connection.execute("SET CONSTRAINTS ALL DEFERRED") }
    func checkConstraints() throws { try connection.execute("SET CONSTRAINTS ALL IMMEDIATE") }

    // The tables go with the transaction.
    func end() throws {}

    // MARK: - Tables

    func table(_ name: String) throws -> StoredTable? { try tables.table(name) }
    func table(id: TableID) throws -> StoredTable? { try tables.table(id: id) }

    /// Returns a table that the stack is known to have.
    func details(of name: String) throws -> StoredTable {
        guard let details = try tables.table(name) else {
            throw StoreError(.schema, "the store no longer has the table '\(name)'")
        }
        return details
    }

    func hasTriggers(_ table: StoredTable) throws -> Bool {
        try isTrue(
            """
            SELECT c.relhasrules OR EXISTS (
                SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
            FROM pg_catalog.pg_class c WHERE c.oid = \(table.id)
            """)
    }

    func makeTable(_ name: String, _ definition: String) throws -> String {
        // A name has 63 bytes at most.
        let name =
            "tributary_\(name.utf8.count > 30 ? "rows" : name)_\(Fingerprint.hexadecimal(name + " " + definition))"
        let table = "\(StagingTable.temporarySchema).\(name.sqlIdentifier)"
        let creation = "CREATE TEMP TABLE IF NOT EXISTS \(table) (\(definition)) ON COMMIT DROP"
        if workTables.insert(table).inserted {
            try connection.execute(creation)
        } else {
            // It may have gone with a savepoint.
            try connection.executeScript("\(creation); TRUNCATE \(table)", line: nil)
        }
        return table
    }

    func makeTable(_ name: String, of query: String) throws -> String {
        let table = "\(StagingTable.temporarySchema).\("tributary_\(name)".sqlIdentifier)"
        try connection.executeScript(
            "DROP TABLE IF EXISTS \(table); CREATE TEMP TABLE \(table) ON COMMIT DROP AS \(query)", line: nil)
        return table
    }

    // Joins need the number of rows, their width, and whether keys are unique: 3,000 rows tell that as well as the 30,000
    // that PostgreSQL samples by default, in a tenth of the time.
    func analyze(_ table: String) throws {
        try connection.executeScript("SET LOCAL default_statistics_target = 10; ANALYZE \(table)", line: nil)
    }

    // MARK: - Errors

    func refusing<Value>(in table: String?, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as PostgresError where error.isAboutRows {
            let isCircle = error.breaksForeignKey && tables.isInCircle(error.schema, error.table)
            throw StoreError(refused: error, in: table, isCircle: isCircle)
        }
    }

    func atomically<Value>(_ statement: () throws -> Value) throws -> Value { try connection.inSavepoint(statement) }

    func isUniqueViolation(_ error: any Error) -> Bool { (error as? PostgresError)?.breaksUniqueness == true }

    func uniqueViolation(_ error: any Error, in table: StagingTable, hint: String) -> any Error {
        guard let error = error as? PostgresError else { return error }
        return StoreError(refused: error, in: table.table.name, hint: hint)
    }

    // MARK: - Staged rows

    func indexKey(of part: StagedStack.Part) throws { try indexKey(of: part.table, part.counts) {} }

    // The planner joins by hashes.
    func indexIdentity(of part: StagedStack.Part) throws {}

    func lookUp(
        _ reference: StagedReference, of part: StagedStack.Part, isStaying: SQLText, mark: String?
    ) throws {
        let column = reference.column.name.sqlIdentifier
        let key = reference.targetKey.sqlIdentifier
        let target = try details(of: reference.target.name)
        let isFound = reference.lookups.compactMap { lookup in
            lookup.column.map { "t.\($0.sqlIdentifier) = s.\(lookup.staged.sqlIdentifier)" }
        }.joined(separator: " AND ")
        let row = "s.\(StagingTable.row)"
        let isOne = reference.findsOneRow
        let order = mark.map { "t.\($0) IS NOT NULL, id" } ?? "id"
        try execute(
            """
            UPDATE \(part.table.staged) AS r SET \(column) = f.id FROM (
                SELECT \(isOne ? "" : "DISTINCT ON (\(row)) ")\(row) AS row, t.\(key) AS id
                FROM \(part.table.staged) s LEFT JOIN \(target.sql) t
                    ON \(isFound)\(isStaying.isEmpty ? "" : " AND \(isStaying)" as SQLText)
                WHERE s.\(reference.lookups[0].staged.sqlIdentifier) IS NOT NULL
                \(isOne ? "" : "ORDER BY \(row), \(order)")) f
            WHERE r.\(StagingTable.row) = f.row AND r.\(column) IS DISTINCT FROM f.id
            """)
    }
}

extension StagedStack {
    /// The stack as one merge uses it: its tables are temporary ones, whose names no table of the store has.
    fileprivate var prepared: StagedStack {
        var stack = self
        for index in parts.indices {
            stack.parts[index].table.schema = StagingTable.temporarySchema
            stack.parts[index].table.name = StagingTable.temporaryPrefix + parts[index].table.name
            stack.parts[index].counts = parts[index].counts.copy()
        }
        return stack
    }
}

/// Unique values that rows give up for a moment, while others take them.
extension PostgresMergeDriver {
    func mayConflict(_ table: StagingTable, _ stored: StoredTable) throws -> Bool {
        let own = table.keyColumns.isEmpty ? 0 : 1
        let isFollowed = stored.children.contains { $0.onUpdate.changesChildren }
        // Equal keys have been found by the comparison already.
        return stored.uniquenesses.count > own || isFollowed
    }

    func uniqueColumns(of table: StoredTable) throws -> Set<String> { table.uniqueColumns }

    func vacating(_ body: () throws -> Bool) throws -> Bool {
        do {
            return try connection.inSavepoint(body)
        } catch let error as PostgresError where error.isAboutRows {
            return false
        }
    }
}
