import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// An undo on the store's writing connection, with a database of its own for the rows.
struct SQLiteUndoDriver: UndoDriver {
    let store: SQLiteStore
    let db: Database
    let run: Int64
    private var memory: StagingMemory { store.memory }
    /// The database of the connection that takes the rows.
    let schema: String
    let driver: any MergeDriver

    init(_ store: SQLiteStore, _ db: Database, run: Int64, schema: String) {
        self.store = store
        self.db = db
        self.run = run
        self.schema = schema
        driver = SQLiteMergeDriver(db, store.memory, StagedStack(path: schema, parts: []), run: run)
    }

    func checkConstraints() throws { try store.checkForeignKeys(db) }

    func merge(
        restoring tables: [UndoneRows], removals: [Removal], onChange: ((PlannedChange) throws -> Void)?
    ) throws -> Merge {
        var stack = StagedStack(path: schema, parts: [])
        var partsWithPlaces: Set<String> = []
        for (number, rows) in tables.enumerated() {
            let info = rows.table.stored
            for part in try parts(of: rows, number: number) {
                stack.parts.append(part)
                if info.identifiesRows, info.generatedKey == nil { partsWithPlaces.insert(part.table.name) }
            }
        }
        return SQLiteMergeDriver(
            db, memory, stack, run: run, keepsHistory: true, isExact: true, partsWithPlaces: partsWithPlaces
        ).merge(removals: removals, onChange: onChange)
    }

    /// Stages the rows as they were: one part for each number of columns that the table had.
    private func parts(of rows: UndoneRows, number: Int) throws -> [StagedStack.Part] {
        let shape = rows.table
        let info = shape.stored
        let key = try shape.mergeKey()
        return try rows.widths.compactMap { width in
            let columns = shape.columns.prefix(width).filter { shape.column($0) != nil }
            var staging = try StagingTable(
                name: "restored_\(number)_\(width)", table: info, columns: columns,
                rule: MergeRule(keys: [info.name: key]))
            staging.schema = schema
            // A row id has one spelling.
            staging.respeltColumns = staging.keyColumns.filter { $0 != info.generatedKey }
            try db.execute(sql: staging.creationSQL)
            let place = StagingTable.place
            try db.execute(sql: "ALTER TABLE \(staging.qualifiedName) ADD COLUMN \(place) INTEGER")
            let names = columns.map(\.sqlIdentifier)
            // SQLite calls no column of a query TRUE or FALSE.
            let values = columns.indices.map { "v\($0)" }
            // A place that another row has taken is left to it.
            let isFree = info.rowID.map {
                """
                CASE WHEN NOT EXISTS (SELECT 1 FROM main.\(info.name.sqlIdentifier) m WHERE m.\($0) = h.\(HistoryTable.row))
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
