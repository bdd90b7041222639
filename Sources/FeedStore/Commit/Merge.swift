import Foundation
import GRDB

/// Brings the main store's tables to what a run has staged: a few set-wise statements a table, inside the caller's
/// transaction. The rows are in another database on the same connection: the run's scratch file, or memory.
///
/// First deletions, from the last table to the first, so that a row which makes room for another does; then, from the
/// first table to the last, what is new or differs. Which rows those are is found in one pass a table and kept in the
/// table `difference`, from which they are written to the store's table and to the journal.
///
/// What changes from run to run is bound, so that the statements are the same for every stack of the same shape.
struct Merge {
    let db: Database
    let run: Int64
    let stack: StagedStack
    let memory: StagingMemory
    /// What requests mirror, whether they staged a row of it this time or none.
    let mirrors: [MirroredRows]
    /// Whether foreign keys are checked once, when everything is in place, rather than with each statement.
    var defersForeignKeys = true
    /// Told which rows leave the scopes of requests.
    var claims: ClaimWatch?
    /// Told of each change before it is made.
    var onChange: ((PlannedChange) throws -> Void)?

    /// The stack's rows are in their staging tables, and stay there.
    func execute() throws -> MergeCounts {
        var counts = MergeCounts()
        if defersForeignKeys { try db.execute(sql: "PRAGMA defer_foreign_keys = ON") }
        let parts = stack.partsByReference
        try checkCircles(parts)
        for part in parts where part.counts.rows > 0 && !part.table.references.isEmpty {
            try prepareReferences(part)
        }
        counts.deleted = try deleteMissingRows()
        for part in parts where part.counts.rows > 0 {
            var merged = MergeCounts()
            do {
                try resolveReferences(part, among: parts)
                merged = try isTree(part) ? mergeTree(part) : merge(part)
            } catch let error as DatabaseError where defersForeignKeys || !error.breaksForeignKey {
                throw StoreError(error, in: part.table.table.name)
            }
            merged.replaced = part.counts.replaced
            counts += merged
        }
        for part in parts where part.counts.rows > 0 { try resolveCycles(part, among: parts) }
        return counts
    }

    // MARK: - New and different rows

    private func merge(_ part: StagedStack.Part) throws -> MergeCounts {
        let table = part.table
        var counts = MergeCounts()
        if case .none = table.identity {
            counts.inserted = try insert(
                part, part.counts.rows, from: "\(table.qualifiedName) s ORDER BY s.\(StagingTable.row)")
            return counts
        }
        // Into an empty table, a large stack goes without being compared.
        if stack.path != nil, case .key = table.identity,
            try !Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table.qualifiedTable))"))!
        {
            counts.inserted = try insert(
                part, part.counts.rows, from: "\(table.qualifiedName) s ORDER BY \(order(of: part))")
            return counts
        }
        let difference = try workTable(
            "difference",
            "id INTEGER PRIMARY KEY, row INTEGER NOT NULL, is_new INTEGER NOT NULL, target INTEGER")
        try db.execute(cached: "INSERT INTO \(difference) (row, is_new, target) " + differenceSQL(part))
        let differing = db.changesCount
        let new =
            differing == 0
            ? 0 : try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM \(difference) WHERE is_new")) ?? 0
        let rows = "\(difference) d CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = d.row"
        if differing > new {
            try noteMovedRows(table, from: rows)
            counts.updated = try update(table, difference, from: rows + " WHERE NOT d.is_new")
        }
        if new > 0 { counts.inserted = try insert(part, new, from: rows + " WHERE d.is_new ORDER BY d.id") }
        counts.unchanged = part.counts.rows - counts.inserted - counts.updated
        return counts
    }

    /// The row ids of staged rows that are new or differ, which of both, and the row id of the store's row.
    private func differenceSQL(_ part: StagedStack.Part) -> String {
        let table = part.table
        guard case .key(let key, _) = table.identity else {
            // Without a key, the store's rows are looked up among the staged ones, whose index covers every column.
            return """
                SELECT s.\(StagingTable.row), 1, NULL FROM \(table.qualifiedName) s
                WHERE s.\(StagingTable.row) NOT IN (
                    SELECT k.\(StagingTable.row) FROM \(table.qualifiedTable) m CROSS JOIN \(table.qualifiedName) k ON \(table.isSameRow("k", "m"))
                ) ORDER BY s.\(StagingTable.row)
                """
        }
        let isNew = "m.\(key[0].sqlIdentifier) IS NULL"
        var differs = [isNew]
        if table.sync == .upsert || table.sync == .mirror {
            differs += table.valueColumns.map(\.sqlIdentifier).map {
                "s.\($0) IS NOT m.\($0) COLLATE BINARY"
            }
        }
        return """
            SELECT s.\(StagingTable.row), \(isNew), \(table.table.rowID.map { "m." + $0 } ?? "NULL") FROM \(table.qualifiedName) s
            LEFT JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s"))
            WHERE \(differs.joined(separator: " OR ")) ORDER BY \(order(of: part))
            """
    }

    /// A small feed's rows are merged in its own order, a large one's in the order of the key.
    private func order(of part: StagedStack.Part) -> String {
        guard part.isSorted, case .key(let key, _) = part.table.identity else { return "s.\(StagingTable.row)" }
        return key.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
    }

    func insert(_ part: StagedStack.Part, _ count: Int, from rows: String) throws -> Int {
        let table = part.table
        let names = table.allColumns.map(\.name.sqlIdentifier)
        let values = names.map { "s." + $0 }.joined(separator: ", ")
        try tell(table, .insert, sql: "SELECT \(values) FROM \(rows)")
        let insertion = """
            INSERT INTO \(table.qualifiedTable) (\(names.joined(separator: ", "))) SELECT \(values) FROM \(rows)
            """
        if case .key = table.identity {
            let inserted = try execute(insertion, of: count, into: part)
            try writeJournal(table.table.name, key: table.journalKey("s"), operation: "insert", from: rows)
            return inserted
        }
        // Keys that the store generates are known by what lies behind the last row id.
        let rowID = table.table.rowID ?? "rowid"
        let last =
            try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT max(\(rowID)) FROM \(table.qualifiedTable)")) ?? 0
        let inserted = try execute(insertion, of: count, into: part)
        try writeJournal(
            table.table.name, key: "m.\(rowID)", operation: "insert",
            from: "\(table.qualifiedTable) m WHERE m.\(rowID) > ? ORDER BY m.\(rowID)", [last])
        return inserted
    }

    /// - Parameter rows: those of `difference` to be updated, as `d`, with the staged rows as `s`.
    private func update(_ table: StagingTable, _ difference: String, from rows: String) throws -> Int {
        let columns = table.valueColumns.map(\.sqlIdentifier)
        let key = table.identityColumns.map(\.sqlIdentifier)
        if onChange != nil { try tellUpdates(table, rows) }
        let assignment =
            "SET (\(columns.joined(separator: ", "))) = (SELECT \(columns.map { "s." + $0 }.joined(separator: ", ")) "
        if let rowID = table.table.rowID {
            // By row id, and from a table that is keyed by it: whatever the planner knows of the store's table, it need not
            // scan it.
            let changed = try workTable(
                "changed", "target INTEGER PRIMARY KEY, row INTEGER NOT NULL")
            try db.execute(
                cached:
                    "INSERT INTO \(changed) SELECT target, row FROM \(difference) WHERE NOT is_new ORDER BY target")
            try db.execute(
                cached: """
                    UPDATE \(table.qualifiedTable) AS m \(assignment)
                        FROM \(changed) c CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = c.row
                        WHERE c.target = m.\(rowID))
                    WHERE m.\(rowID) IN (SELECT target FROM \(changed))
                    """)
        } else {
            // Without row ids, and under the key's own collations, SQLite scans the table.
            try db.execute(
                cached: """
                    UPDATE \(table.qualifiedTable) AS m \(assignment)
                        FROM \(table.qualifiedName) s WHERE \(table.matches("s", "m")))
                    WHERE (\(zip(key, table.keyCollations).map { "m.\($0) COLLATE \($1)" }.joined(separator: ", "))) IN (
                        SELECT \(key.map { "s." + $0 }.joined(separator: ", ")) FROM \(rows))
                    """)
        }
        let updated = db.changesCount
        try writeJournal(
            table.table.name, key: table.journalKey("s"), operation: "update", from: rows + " ORDER BY d.id")
        return updated
    }

    /// A table beside the staged rows, made where there is none of this name, and empty.
    func workTable(_ name: String, _ columns: String) throws -> String {
        let table = "\(stack.schema).tributary_\(name)"
        if stack.path != nil || !memory.hasWorkTable(name) {
            try db.execute(sql: "CREATE TABLE IF NOT EXISTS \(table) (\(columns))")
        }
        try db.execute(cached: "DELETE FROM \(table)")
        return table
    }

    // MARK: - The journal

    func writeJournal(
        _ table: String, key: String, operation: String, from rows: String, _ arguments: StatementArguments = []
    ) throws {
        try db.execute(
            cached: """
                INSERT INTO main.tributary_change (run, "table", key, operation)
                SELECT ?, \(table.sqlLiteral), \(key), \(operation.sqlLiteral) FROM \(rows)
                """, [run] + arguments)
    }
}

extension StagingTable {
    /// Whether two aliases stand for the same row: by key, or by every column.
    func isSameRow(_ left: String, _ right: String) -> String {
        if case .key = identity { return matches(left, right) }
        return identityColumns.map(\.sqlIdentifier)
            .map { "\(left).\($0) IS \(right).\($0)" }.joined(separator: " AND ")
    }

    /// The row's key as the journal keeps it: the value of the one key column, or a JSON array of several.
    func journalKey(_ alias: String) -> String { journalKeySQL(identityColumns, alias) }
}

extension TableInfo {
    /// The key of a row that is about to go, in the form in which its coming was written to the journal.
    func journalKey(_ alias: String, among stack: StagedStack) -> String {
        let keyed = stack.parts.first { part in
            if case .key = part.table.identity { part.table.table.name == name } else { false }
        }
        if let keyed { return keyed.table.journalKey(alias) }
        if !primaryKey.isEmpty { return journalKeySQL(primaryKey, alias) }
        return "\(alias).\(rowID ?? "rowid")"
    }
}

private func journalKeySQL(_ columns: [String], _ alias: String) -> String {
    let values = columns.map { "\(alias).\($0.sqlIdentifier)" }
    guard values.count > 1 else { return values[0] }
    // JSON has no blobs.
    let texts = values.map { "CASE typeof(\($0)) WHEN 'blob' THEN hex(\($0)) ELSE \($0) END" }
    return "json_array(\(texts.joined(separator: ", ")))"
}
