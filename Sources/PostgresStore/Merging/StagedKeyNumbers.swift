package import FeedStaging
import FeedStores

/// Keys that PostgreSQL considers equal although their bytes differ: the numbers 1.0 and 1.00, or texts of `citext`.
extension PostgresStore {
    package func numberKeys(
        of tables: [StagingTable], inScratch path: String, _ body: (Int, Int64, Int64) throws -> Void
    ) throws {
        guard let key = tables.first?.keyColumns else { return }
        let parts = tables.map { table in
            let counts = StagedCounts()
            counts.rows = 1
            return StagedStack.Part(table: table.withKeyAlone, counts: counts, isSorted: false, batches: [])
        }
        try ask(within: Self.queryLimit) { connection in
            try connection.inDiscardedTransaction(settings: readSettings(lock: LockLimits.question)) {
                let driver = PostgresMergeDriver(
                    connection, self, StagedStack(path: path, parts: parts), run: 0)
                for part in driver.stack.parts { try driver.copy(part) }
                let columns = try key.map { try driver.details(of: tables[0].table.name).needed($0).sql }
                let list = columns.joined(separator: ", ")
                let rows = driver.stack.parts.enumerated().map { index, part in
                    "SELECT \(index) AS part, \(StagingTable.row) AS row, \(list) FROM \(part.table.staged)"
                }
                try connection.forEachRow(
                    of: """
                        SELECT part, row, dense_rank() OVER (ORDER BY \(list))
                        FROM (\(rows.joined(separator: " UNION ALL "))) r
                        """, []
                ) { row in
                    if let part = try row.int(0), let number = try row.int64(1), let key = try row.int64(2) {
                        try body(part, number, key)
                    }
                    return .next
                }
            }
        }
    }
}

extension StagingTable {
    /// The table with the columns of its key alone.
    fileprivate var withKeyAlone: StagingTable {
        var table = self
        table.columns = columns.filter { isKey($0.name) }
        table.constants = constants.filter { isKey($0.column.name) }
        table.references = []
        table.enclosing = []
        table.numbersRecords = false
        table.marksDeleted = false
        return table
    }
}
