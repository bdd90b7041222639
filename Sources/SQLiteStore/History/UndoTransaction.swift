import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// The transaction that brings a source's rows back to what they were: it finds the rows of each table as they are wanted in
/// the history, checks that nothing else has changed them, and merges them as a run's rows are merged.
struct UndoTransaction {
    let db: Database
    let memory: StagingMemory
    let undo: Undo
    /// The database of the connection that takes the rows.
    let schema: String

    private var queries: UndoQueries {
        UndoQueries(
            undo,
            .init(runs: "main.tributary_run", join: "CROSS JOIN", isDistinct: "IS NOT") { $0.sqlLiteral })
    }

    struct Outcome {
        var counts: MergeCounts
        /// The tables whose rows were brought back.
        var tables: Set<String>
    }

    /// A table some of whose rows are to be brought back.
    private struct Table {
        var shape: HistoryShape
        /// The table of the first and the last entry of each row, as `first` and `last`.
        var entries: String
    }

    /// Merges the rows.
    ///
    /// - Parameters:
    ///   - run: the number of the run that undoes.
    ///   - lastChange: the last id of the changelog before it.
    func execute(run: Int64, after lastChange: Int64, onChange: ((PlannedChange) throws -> Void)? = nil) throws
        -> Outcome
    {
        let changelog = undo.changelog
        let tables = try findTables()
        for table in tables { try check(table) }
        var stack = StagedStack(path: schema, parts: [])
        var removals: [Merge.Removal] = []
        var restored: Set<String> = []
        for (number, table) in tables.enumerated() {
            if let removal = try removal(of: table) { removals.append(removal) }
            for part in try parts(of: table, number: number) {
                stack.parts.append(part)
                if table.shape.table.hasRowID, table.shape.table.generatedKey == nil {
                    restored.insert(part.table.name)
                }
            }
        }
        var merge = Merge(
            db: db, run: run, stack: stack, memory: memory, mirrors: [],
            onChange: onChange.map { report in { change in if let told = changelog.told(change) { try report(told) } } }
        )
        merge.keepsHistory = true
        merge.restoresTypes = true
        merge.removals = removals
        merge.partsWithPlaces = restored
        var counts = try merge.execute()
        for table in tables { try checkRestored(table) }
        try checkOthers(tables, run: run)
        try db.checkForeignKeys()
        for table in tables { try correctChangelog(of: table.shape, run: run, after: lastChange, &counts) }
        return Outcome(counts: counts, tables: Set(tables.map(\.shape.table.name)))
    }

    /// Finds the tables of which the undone runs have changed rows.
    private func findTables() throws -> [Table] {
        try checkMissing()
        return try HistoryShape.all(db).enumerated().compactMap { index, shape -> Table? in
            let isConcerned = "SELECT EXISTS (SELECT 1 FROM \(shape.sql) h WHERE \(queries.isUndone))"
            guard try Bool.fetchOne(db, sql: isConcerned) == true else { return nil }
            guard shape.retyped.isEmpty else { throw undo.retyped(shape.table.name, shape.retyped) }
            let key = try shape.mergeKey()
            guard shape.has(shape.identity + key),
                try Bool.fetchOne(db, sql: queries.lacksKey(of: shape, key: key.map(\.sqlIdentifier))) == false
            else { throw undo.otherKey(shape.table.name, key) }
            let entries = "\(schema).undo_\(index)"
            try db.execute(sql: "CREATE TABLE \(entries) (first INTEGER PRIMARY KEY, last INTEGER NOT NULL)")
            try db.execute(sql: "INSERT INTO \(entries) \(queries.entries(of: shape))")
            return Table(shape: shape, entries: entries)
        }
    }

    /// Checks that every table is there whose rows the undone runs have changed.
    private func checkMissing() throws {
        for name in try HistoryShape.tables(db) where try !db.tableExists(name, in: "main") {
            let entries = "main.\(HistoryTable.name(of: name).sqlIdentifier)"
            let isConcerned = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM \(entries) h WHERE \(queries.isUndone))")
            if isConcerned == true { throw undo.missing(name) }
        }
    }

    /// Checks that the rows are what they were: a trigger may have changed them again.
    private func checkRestored(_ table: Table) throws {
        let shape = table.shape
        let isRow = try shape.mergeKey().map(\.sqlIdentifier).map { "m.\($0) = h.\($0)" }.joinedConditions("AND")
        for width in try widths(of: table) {
            // A row that was not there had another place, or no key that is known.
            let rows =
                queries.notRestored(shape, entries: table.entries, width: width, isRow: isRow)
                + " AND h.\(HistoryTable.operation) <> 'insert'"
            try refuse(table, rows, undo.notRestored)
        }
    }

    private func widths(of table: Table) throws -> [Int] {
        try Int.fetchAll(db, sql: queries.widths(of: table.shape))
    }

    /// Checks that each row is as the source's last run has left it, and was so before each of its runs.
    private func check(_ table: Table) throws {
        for width in try widths(of: table) {
            try refuse(
                table, queries.changedSince(table.shape, entries: table.entries, width: width), undo.changedSince)
            try refuse(table, queries.changedBetween(table.shape, width: width), undo.changedSince)
        }
    }

    /// - Parameter rows: a FROM clause for rows that prevent the undo, with their entries as `h`.
    private func refuse(
        _ table: Table, _ rows: String, _ error: (String, [String], Int) -> StoreError
    ) throws {
        let count = try Int.fetchOne(db, sql: "SELECT count(*) \(rows)") ?? 0
        guard count > 0 else { return }
        let keys = try String.fetchAll(
            db, sql: "SELECT \(table.shape.key("h")) \(rows) LIMIT \(Undo.namedRows)")
        throw error(table.shape.table.name, keys, count)
    }

    /// Finds the rows that were not there, or had another key.
    private func removal(of table: Table) throws -> Merge.Removal? {
        let shape = table.shape
        let located = ChangedRows.located(shape.table)
        let name = table.entries + "_gone"
        let list = located.joined(separator: ", ")
        try db.execute(sql: "CREATE TABLE \(name) (\(list), PRIMARY KEY (\(list)))")
        let key = try shape.mergeKey()
        let hasOtherKey = key.map { "h.\($0.sqlIdentifier) IS NOT m.\($0.sqlIdentifier) COLLATE BINARY" }
        let isOther =
            shape.identity.isEmpty ? " OR \(hasOtherKey.joinedConditions("OR"))" : ""
        try db.execute(
            sql: """
                INSERT OR IGNORE INTO \(name) SELECT \(shape.table.locator.map { "m." + $0 }.joined(separator: ", "))
                FROM \(table.entries) u CROSS JOIN \(shape.sql) h ON h.\(HistoryTable.id) = u.first
                CROSS JOIN \(shape.storedSQL) m ON \(shape.isRow("m", "h"))
                WHERE h.\(HistoryTable.operation) = 'insert'\(isOther)
                """)
        return db.changesCount > 0 ? Merge.Removal(table: shape.table, name: name) : nil
    }

    /// Stages the rows as they were: one part for each number of columns that the table had.
    private func parts(of table: Table, number: Int) throws -> [StagedStack.Part] {
        let shape = table.shape
        let key = try shape.mergeKey()
        return try widths(of: table).compactMap { width in
            let columns = shape.columns.prefix(width).filter(shape.isStored)
            var staging = try StagingTable(
                name: "restored_\(number)_\(width)", table: shape.table, columns: columns,
                rule: MergeRule(keys: [shape.table.name: key]))
            staging.schema = schema
            // A row id has one spelling.
            staging.respeltColumns = staging.keyColumns.filter { $0 != shape.table.generatedKey }
            try db.execute(sql: staging.creationSQL)
            let place = StagingTable.place
            try db.execute(sql: "ALTER TABLE \(staging.qualifiedName) ADD COLUMN \(place) INTEGER")
            let names = columns.map(\.sqlIdentifier)
            // SQLite calls no column of a query TRUE or FALSE.
            let values = columns.indices.map { "v\($0)" }
            // A place that another row has taken is left to it.
            let isFree = shape.table.rowID.map {
                """
                CASE WHEN NOT EXISTS (SELECT 1 FROM \(shape.storedSQL) m WHERE m.\($0) = h.\(HistoryTable.row))
                    OR EXISTS (SELECT 1 FROM \(table.entries)_gone g WHERE g.k0 = h.\(HistoryTable.row))
                    THEN h.\(HistoryTable.row) END
                """
            }
            try db.execute(
                sql: """
                    INSERT INTO \(staging.qualifiedName) (\(StagingTable.row), \(place), \(names.joined(separator: ", ")))
                    SELECT row_number() OVER (ORDER BY \(place) IS NULL, \(HistoryTable.id)), \(place),
                        \(values.joined(separator: ", "))
                    FROM (
                        SELECT h.\(HistoryTable.id), \(isFree ?? "NULL") AS \(place),
                            \(zip(names, values).map { "h.\($0) AS \($1)" }.joined(separator: ", "))
                        FROM \(table.entries) u CROSS JOIN \(shape.sql) h ON h.\(HistoryTable.id) = u.first
                        WHERE h.\(HistoryTable.operation) <> 'insert' AND h.\(HistoryTable.width) = \(width))
                    """)
            let counts = StagedCounts()
            counts.rows = db.changesCount
            // Unknown, so that each column is looked at.
            counts.nulls = columns.map { _ in 1 }
            guard counts.rows > 0 else { return nil }
            try db.prepareForMerge(staging, counts: counts)
            return StagedStack.Part(table: staging, counts: counts, isSorted: false, batches: [])
        }
    }

    /// Checks that no row has changed that is not to be brought back.
    private func checkOthers(_ tables: [Table], run: Int64) throws {
        for shape in try HistoryShape.all(db) {
            let own = tables.first { $0.shape.name == shape.name }
            try refuse(
                own ?? Table(shape: shape, entries: ""),
                queries.others(shape, entries: own?.entries, run: run), undo.touchesOthers)
        }
    }
}

extension HistoryShape: UndoneTable {
    var storedSQL: String { "main.\(table.name.sqlIdentifier)" }

    /// Returns an expression for the key of an entry's row, for people.
    func key(_ alias: String) -> String {
        let key = identity.isEmpty ? table.primaryKey : identity
        return key.isEmpty ? "\(alias).\(HistoryTable.row)" : journalKeySQL(key, alias)
    }

    /// Returns the columns by which the merge tells the rows apart.
    ///
    /// - Throws: ``StoreError`` where there are none.
    func mergeKey() throws -> [String] {
        if !table.primaryKey.isEmpty { return table.primaryKey }
        guard let index = table.uniqueIndexes.first(where: { $0.allSatisfy { isStored($0.name) } }) else {
            throw Undo.noKey(table.name)
        }
        return index.map(\.name)
    }
}
