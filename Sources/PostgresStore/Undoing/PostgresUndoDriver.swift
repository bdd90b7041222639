import FeedModel
import FeedStaging
import FeedStores
import Merging
import PostgresClient
import StoreSQL

/// An undo in a transaction of PostgreSQL's.
struct PostgresUndoDriver: UndoDriver {
    let store: PostgresStore
    let connection: PostgresConnection
    let run: Int64
    let driver: any MergeDriver
    private let tables: MergeTables
    private let lock: (PostgresMergeDriver, [MirroredRows]) throws -> Void

    /// - Parameter lock: locks the tables of a merge.
    init(
        _ store: PostgresStore, _ connection: PostgresConnection, run: Int64,
        lock: @escaping (PostgresMergeDriver, [MirroredRows]) throws -> Void
    ) {
        self.store = store
        self.connection = connection
        self.run = run
        self.lock = lock
        let driver = PostgresMergeDriver(connection, store, StagedStack(path: nil, parts: []), run: run)
        self.driver = driver
        tables = driver.tables
    }

    func histories() throws -> [any UndoneTable] { try HistoryShape.all(connection, tables) }

    func historiesWithoutTables() throws -> [(table: String, sql: String)] {
        try HistoryName.all(connection).compactMap { history in
            guard let name = history.table, try Catalog(connection).table(name) == nil else { return nil }
            return (name, history.sql)
        }
    }

    func lock(_ tables: [any UndoneTable]) throws {
        try lock(
            PostgresMergeDriver(connection, store, StagedStack(path: nil, parts: []), run: run),
            tables.map { MirroredRows(table: $0.stored.name, scope: [:], window: nil) })
    }

    // The merge has checked them.
    func checkConstraints() throws {}

    func merge(
        restoring tables: [UndoneRows], removals: [Removal], onChange: ((PlannedChange) throws -> Void)?
    ) throws -> Merge {
        var stack = StagedStack(path: nil, parts: [])
        var origins: [(rows: UndoneRows, width: Int)] = []
        for rows in tables {
            guard let shape = rows.table as? HistoryShape else { continue }
            let info = shape.table.writingIdentities
            for width in rows.widths {
                let columns = shape.columns.prefix(width).filter { info.column($0)?.isGenerated == false }
                let counts = StagedCounts()
                counts.rows = 1
                // Unknown, so that each column is looked at.
                counts.nulls = columns.map { _ in 1 }
                var staging = try StagingTable(
                    name: "restored_\(origins.count)", table: info, columns: Array(columns),
                    rule: MergeRule(keys: [shape.table.name: shape.keyColumns]))
                staging.respeltColumns = shape.keyColumns.filter {
                    shape.table.column($0)?.bytesDecide == false
                }
                stack.parts.append(StagedStack.Part(table: staging, counts: counts, isSorted: false, batches: []))
                origins.append((rows, width))
            }
        }
        let driver = PostgresMergeDriver(connection, store, stack, run: run, keepsHistory: true, isExact: true)
        try driver.tables.load(tables.map(\.table.stored.name))
        for (part, origin) in zip(driver.stack.parts, origins) {
            try driver.create(part)
            let names = part.table.columns.map(\.name.sqlIdentifier)
            part.counts.rows = try connection.execute(
                """
                INSERT INTO \(part.table.staged) (\(StagingTable.row), \(names.joined(separator: ", ")))
                SELECT h.\(HistoryTable.id), \(names.map { "h." + $0 }.joined(separator: ", "))
                FROM \(origin.rows.entries) u JOIN \(origin.rows.table.sql) h ON h.\(HistoryTable.id) = u.first
                WHERE h.\(HistoryTable.operation) <> 'insert' AND h.\(HistoryTable.width) = \(origin.width)
                """
            ).affectedRows
            part.counts.nulls = names.map { _ in 1 }
            try connection.execute("ANALYZE \(part.table.staged)")
            try driver.indexKey(of: part)
        }
        return driver.merge(removals: removals, onChange: onChange)
    }
}

extension HistoryShape: UndoneTable {
    var stored: any StoredTable { table }
    var groupColumns: [String] { identity }

    func mergeKey() throws -> [String] {
        guard !table.isLocatedByPlace else { throw Undo.noKey(table.name) }
        return keyColumns
    }

    func hasColumns(of key: [String]) -> Bool { hasIdentity }
    func isRestoredRow(_ row: String, _ entry: String) throws -> String { isRow(row, entry) }
    func hasOtherKey(_ row: String, _ entry: String) throws -> String? { nil }
    func isThere(_ alias: String) -> String { "\(alias).tableoid IS NOT NULL" }
}

extension TableDetails {
    /// The table as staging knows it, for rows whose numbers are to be what they were, whoever gave them.
    fileprivate var writingIdentities: TableInfo {
        TableInfo(
            name: info.name, kind: info.kind,
            columns: info.columns.map { column in
                var column = column
                if info.primaryKey.contains(column.name), self.column(column.name)?.isComputed == false {
                    column.isGenerated = false
                }
                return column
            },
            primaryKey: info.primaryKey, generatedKey: info.generatedKey, uniqueIndexes: info.uniqueIndexes,
            foreignKeys: info.foreignKeys)
    }
}
