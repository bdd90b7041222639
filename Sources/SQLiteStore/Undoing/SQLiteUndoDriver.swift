import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB
import Merging
import StoreSQL

/// An undo on the store's writing connection, with a database of its own for the rows.
struct SQLiteUndoDriver: UndoDriver {
    let db: Database
    let memory: StagingMemory
    let run: Int64
    /// The database of the connection that takes the rows.
    let schema: String
    let driver: any MergeDriver

    init(_ db: Database, _ memory: StagingMemory, run: Int64, schema: String) {
        self.db = db
        self.memory = memory
        self.run = run
        self.schema = schema
        driver = SQLiteMergeDriver(db, memory, StagedStack(path: schema, parts: []), run: run)
    }

    func histories() throws -> [any UndoneTable] {
        try HistoryShape.all(db).compactMap { shape in
            try memory.table(shape.table.name, db).map { SQLiteUndoneTable(shape: shape, table: $0) }
        }
    }

    func historiesWithoutTables() throws -> [(table: String, sql: String)] {
        try HistoryShape.tables(db).filter { try !db.tableExists($0, in: "main") }.map {
            ($0, "main.\(HistoryTable.name(of: $0).sqlIdentifier)")
        }
    }

    // The transaction has locked the store.
    func lock(_ tables: [any UndoneTable]) throws {}

    func checkConstraints() throws { try db.checkForeignKeys() }

    func merge(
        restoring tables: [UndoneRows], removals: [Removal], onChange: ((PlannedChange) throws -> Void)?
    ) throws -> Merge {
        var stack = StagedStack(path: schema, parts: [])
        var partsWithPlaces: Set<String> = []
        for (number, rows) in tables.enumerated() {
            guard let shape = (rows.table as? SQLiteUndoneTable)?.shape else { continue }
            for part in try parts(of: rows, shape, number: number) {
                stack.parts.append(part)
                if shape.table.hasRowID, shape.table.generatedKey == nil { partsWithPlaces.insert(part.table.name) }
            }
        }
        return SQLiteMergeDriver(
            db, memory, stack, run: run, keepsHistory: true, isExact: true, partsWithPlaces: partsWithPlaces
        ).merge(removals: removals, onChange: onChange)
    }

    /// Stages the rows as they were: one part for each number of columns that the table had.
    private func parts(of rows: UndoneRows, _ shape: HistoryShape, number: Int) throws -> [StagedStack.Part] {
        let key = try shape.mergeKey()
        return try rows.widths.compactMap { width in
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
                CASE WHEN NOT EXISTS (SELECT 1 FROM main.\(shape.table.name.sqlIdentifier) m WHERE m.\($0) = h.\(HistoryTable.row))
                    OR EXISTS (SELECT 1 FROM \(rows.removed) g WHERE g.k0 = h.\(HistoryTable.row))
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
                        FROM \(rows.entries) u CROSS JOIN \(shape.sql) h ON h.\(HistoryTable.id) = u.first
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
}

/// A table of the main store with its history.
struct SQLiteUndoneTable: UndoneTable {
    let shape: HistoryShape
    let table: SQLiteTable

    var stored: any StoredTable { table }
    var sql: String { shape.sql }
    var columns: [String] { shape.columns }
    var retyped: [String] { shape.retyped }
    var groupColumns: [String] { shape.groupColumns }

    func mergeKey() throws -> [String] { try shape.mergeKey() }
    func hasColumns(of key: [String]) -> Bool { shape.has(shape.identity + key) }
    func isRow(_ row: String, _ entry: String) -> String { shape.isRow(row, entry) }
    func isThere(_ alias: String) -> String { shape.isThere(alias) }
    func digest(ofEntry alias: String, width: Int) -> String { shape.digest(ofEntry: alias, width: width) }
    func digest(ofStored alias: String, width: Int?) -> String { shape.digest(ofStored: alias, width: width) }

    func key(_ alias: String) -> String {
        let key = shape.identity.isEmpty ? table.info.primaryKey : shape.identity
        return key.isEmpty ? "\(alias).\(HistoryTable.row)" : changelogKeySQL(key, alias)
    }

    /// A row that was not there had another place, or no key that is known.
    func isRestoredRow(_ row: String, _ entry: String) throws -> String {
        let isSame = try mergeKey().map(\.sqlIdentifier).map { "\(row).\($0) = \(entry).\($0)" }
        return (isSame + ["\(entry).\(HistoryTable.operation) <> 'insert'"]).joinedConditions("AND")
    }

    func hasOtherKey(_ row: String, _ entry: String) throws -> String? {
        guard shape.identity.isEmpty else { return nil }
        return try mergeKey().map { "\(entry).\($0.sqlIdentifier) IS NOT \(row).\($0.sqlIdentifier) COLLATE BINARY" }
            .joinedConditions("OR")
    }
}

extension HistoryShape {
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
