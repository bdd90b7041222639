import Dispatch
import GRDB

/// How staged rows reach the scratch database, and what becomes of it.
extension WorkerContext {
    /// Forgets the rows that a request has staged: it is sent once more.
    package func forgetRequest(_ index: Int) throws {
        try flush()
        let first = Int64(index) << 40
        for staging in stagings where staging.request == index {
            let name = staging.table.name
            let counts = staging.counts
            try database.writeWithoutTransaction { db in
                try failure.check()
                try db.execute(
                    sql: "DELETE FROM \(name) WHERE \(StagingTable.row) BETWEEN ? AND ?",
                    arguments: [first, first + (1 << 40) - 1])
                counts.rows -= db.changesCount
            }
            // Obtained anew by whoever stages next.
            staging.request = -1
        }
        insertedRows = 0
    }

    /// Hands every batch to the scratch database's queue; waits only while two are under way there.
    func flush(isFull: Bool = false) throws {
        for staging in stagings where !staging.batch.rows.isEmpty {
            inFlight.wait()
            let batch = staging.takeBatch(spareBatches.take())
            let firstRow = staging.nextRow
            staging.nextRow += Int64(batch.rows.count)
            let table = staging.table
            let counts = staging.counts
            if isFull, table.sortColumn != nil { staging.isSorted = true }
            let sorts = staging.isSorted
            database.asyncWriteWithoutTransaction { [failure, inFlight, spareBatches] db in
                defer {
                    spareBatches.put(batch)
                    inFlight.signal()
                }
                guard !failure.isSet else { return }
                do {
                    if sorts { batch.sortByKey() }
                    try db.inTransaction {
                        try db.write(batch, into: table, firstRow: firstRow, counts: counts)
                        return .commit
                    }
                } catch {
                    failure.set(error)
                }
            }
        }
        try failure.check()
    }

    /// Writes what is still in memory, finds rows that share a key, and closes the scratch database.
    ///
    /// - Returns: what there is to merge, in the order of the stack.
    package func finish() throws -> StagedStack {
        try flush()
        try database.writeWithoutTransaction { db in
            try failure.check()
            for staging in stagings { try db.prepareForMerge(staging.table, counts: staging.counts) }
        }
        try database.close()
        // The merge needs its memory for itself.
        for staging in stagings { staging.batch = RowBatch(keyColumn: nil) }
        spareBatches.removeAll()
        return StagedStack(
            path: path,
            parts: stagings.map { StagedStack.Part(table: $0.table, counts: $0.counts, isSorted: $0.isSorted) })
    }

    /// Closes the scratch database and removes it. Always called, whatever became of the run.
    package func remove() {
        // Closing fails only if it is closed already, by `finish`; a file that stays is removed by the next run.
        try? database.close()
        store.removeScratch(at: path)
    }

    /// Stops what the scratch database is doing, from any thread.
    package var interrupter: @Sendable () -> Void {
        { [database] in database.interrupt() }
    }
}
