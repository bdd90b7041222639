import FeedModel
import FeedStaging
import FeedStores

/// An undo in a transaction of PostgreSQL's.
struct PostgresUndoDriver: UndoDriver {
    let store: PostgresStore
    let connection: PostgresConnection
    let run: Int64
    let driver: any MergeDriver

    init(_ store: PostgresStore, _ connection: PostgresConnection, run: Int64) {
        self.store = store
        self.connection = connection
        self.run = run
        driver = PostgresMergeDriver(connection, store, StagedStack(path: nil, parts: []), run: run)
    }

    // The merge has checked them.
    func checkConstraints() throws {}

    func merge(
        restoring tables: [UndoneRows], removals: [Removal], onChange: ((PlannedChange) throws -> Void)?
    ) throws -> Merge {
        var stack = StagedStack(path: nil, parts: [])
        var origins: [(rows: UndoneRows, width: Int)] = []
        for rows in tables {
            let shape = rows.table
            let info = shape.stored.writingIdentities
            let key = try shape.mergeKey()
            for width in rows.widths {
                let columns = shape.columns.prefix(width).filter { info.column($0)?.isGenerated == false }
                let counts = StagedCounts()
                counts.rows = 1
                // Unknown, so that each column is looked at.
                counts.nulls = columns.map { _ in 1 }
                var staging = try StagingTable(
                    name: "restored_\(origins.count)", table: info, columns: Array(columns),
                    rule: MergeRule(keys: [shape.stored.name: key]))
                staging.respeltColumns = key.filter { shape.stored.column($0)?.bytesDecide == false }
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
            try driver.analyze(part.table.staged)
            try driver.indexKey(of: part)
        }
        return driver.merge(removals: removals, onChange: onChange)
    }
}

extension StoredTable {
    /// The table for staging, for rows that keep their former numbers, whether the feed or the store gave them.
    fileprivate var writingIdentities: StoredTable {
        var table = self
        for index in columns.indices where columns[index].identity == .always {
            table.columns[index].identity = .byDefault
        }
        return table
    }
}
