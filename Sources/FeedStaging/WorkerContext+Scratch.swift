import Dispatch
import FeedModel
import GRDB

/// Staged rows waiting for the merge, in memory or in the scratch database.
extension WorkerContext {
    /// Ends every batch that is being filled, as the rows that follow have other numbers.
    func endBatches() throws {
        for staging in stagings { endedBytes += staging.endBatch(spareBatches.take()) }
        if endedBytes > capacity { growIfAllowed() }
        if database != nil || endedBytes > capacity { try flush() }
    }

    /// Returns the scratch database, created on first use, with a table for each shape of rows.
    func openScratch() throws -> DatabaseQueue {
        if let database { return database }
        growIfAllowed()
        let new = try scratch.open(stagings.map(\.table.creationSQL), cache: 2 * capacity)
        database = new
        return new
    }

    /// Does something in the scratch database, after everything that was to be written there before.
    ///
    /// - Throws: the errors of the body; ``StoreError`` naming the file where its disk fails.
    func inScratch<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let database = try openScratch()
        do {
            return try database.writeWithoutTransaction { db in
                try failure.check()
                return try body(db)
            }
        } catch let error as DatabaseError where error.isOfDisk {
            throw StoreError(scratch: error, path: scratch.path)
        }
    }

    /// Removes the staged rows of a request that is sent again.
    package func forgetRequest(_ index: Int) throws {
        try endBatches()
        live = nil
        let rows = Staging.rows(ofRequest: index)
        for staging in stagings where staging.isUsed(by: index) {
            staging.forget(request: index)
            guard database != nil else { continue }
            let name = staging.table.name
            let counts = staging.counts
            try inScratch { db in
                try db.execute(
                    sql: "DELETE FROM \(name) WHERE \(StagingTable.row) BETWEEN ? AND ?",
                    arguments: [rows.lowerBound, rows.upperBound])
                counts.rows -= db.changesCount
            }
        }
        insertedRows = 0
        droppedRecords = 0
        forgetSkipped(index)
        skippedRecords[index] = nil
        skippedNumbers[index] = nil
        tablesOfRequest[index] = nil
    }

    /// Hands every batch to the scratch database's queue. Waits only while two are in progress there.
    func flush(isFull: Bool = false) throws {
        let database = try openScratch()
        for staging in stagings {
            if isFull, staging.table.sortKey != nil, !staging.isContested { staging.isSorted = true }
            while !staging.isEmpty {
                live = nil
                // Waits first: a batch that has been written can then be reused as the spare one.
                inFlight.wait()
                let batch = staging.takeBatch(spareBatches.take())
                // Only one batch of very large rows is in progress at a time, to save memory.
                let isLarge = batch.rows.capacity > BatchPool.largestKept
                if isLarge { inFlight.wait() }
                write(batch, of: staging, to: database, places: isLarge ? 2 : 1)
            }
        }
        endedBytes = 0
        try failure.check()
    }

    private func write(_ batch: StagedBatch, of staging: Staging, to database: DatabaseQueue, places: Int) {
        let table = staging.table
        let counts = staging.counts
        let sorts = staging.isSorted
        database.asyncWriteWithoutTransaction { [failure, inFlight, spareBatches, path = scratch.path] db in
            defer {
                spareBatches.put(batch.rows)
                for _ in 0..<places { inFlight.signal() }
            }
            guard !failure.isSet else { return }
            do {
                if sorts, batch.rows.numbers.isEmpty { batch.rows.sortByKey() }
                counts.noteKeys(of: batch.rows)
                try db.inTransaction {
                    try db.write(batch, into: table, counts: counts)
                    return .commit
                }
            } catch {
                failure.set(StoreError(scratch: error, path: path))
            }
        }
    }

    /// Ends the staging. A small stack's rows stay in memory for the merge. For a larger one, writes the rows that are
    /// still in memory, finds rows that share a key, and closes the scratch database.
    ///
    /// - Returns: the stack to merge, with its parts in the order of the stack.
    package func finish() throws -> StagedStack {
        try endBatches()
        let stagings = stagings.filter(\.isUsed)
        // A table that is copied for look-ups may be of any size.
        if stagings.contains(where: { $0.table.references.contains(where: \.copiesTarget) }) {
            try flush()
        }
        // Batches may still be on their way.
        if database != nil { try inScratch { _ in } }
        // The index and the merge need their memory for themselves.
        for staging in self.stagings { staging.releaseBatch() }
        spareBatches.removeAll()
        // Which records are replaced decides which of those within them count, so that one store has to find all of
        // them.
        let areComparedByStore = stagings.contains { $0.table.numbersRecords && $0.table.isComparedByStore }
        if database != nil {
            try inScratch { db in
                try dropStagedViews(db)
                guard !areComparedByStore else { return }
                try db.keepLast(
                    of: stagings.map { ($0.table, $0.counts) }, without: allSkippedNumbers,
                    check: scratch.checkInterruption)
            }
            try scratch.close()
        }
        let parts = stagings.map { staging in
            StagedStack.Part(
                table: staging.table, counts: staging.counts, isSorted: staging.isSorted, batches: staging.takeEnded())
        }
        var stack = StagedStack(path: database == nil ? nil : scratch.path, parts: parts)
        stack.hasReplaced = areComparedByStore
        stack.skippedNumbers = allSkippedNumbers
        stack.rejected = rejected
        stack.skipped = skippedRecords.sorted { $0.key < $1.key }.flatMap(\.value)
        return stack
    }

    var allSkippedNumbers: [String: [Int64]] {
        skippedNumbers.values.reduce(into: [:]) { $0.merge($1, uniquingKeysWith: +) }
    }

    /// Removes the scratch database. Always called, whatever the outcome of the run.
    package func remove() {
        database = nil
        scratch.remove()
    }

    /// - Throws: `CancellationError` after an interruption.
    package func checkInterruption() throws { try scratch.checkInterruption() }

    /// A closure that stops the scratch database's work, from any thread.
    package var interrupter: @Sendable () -> Void {
        { [scratch] in scratch.interrupt() }
    }
}

/// Batches that have been written and are kept for reuse of their memory.
final class BatchPool: Sendable {
    private let batches = Mutex<[RowBatch]>([])

    func take() -> RowBatch? { batches.withLock { $0.popLast() } }

    /// Twice the size to which a batch of rows of the usual size grows.
    static let largestKept = 4 * WorkerContext.batchCapacity

    /// Keeps at most three batches, which is the most that one run can have in progress. Does not keep a batch that
    /// one very large row has enlarged.
    func put(_ batch: RowBatch) {
        guard batch.capacity <= Self.largestKept else { return }
        batches.withLock { if $0.count < 3 { $0.append(batch) } }
    }

    func removeAll() { batches.withLock { $0 = [] } }
}

/// The first error on the scratch database's queue. Batches queued behind it are not written.
final class FirstError: Sendable {
    private let error = Mutex<StoreError?>(nil)

    var isSet: Bool { error.withLock { $0 != nil } }

    func set(_ new: StoreError) { error.withLock { $0 = $0 ?? new } }

    func check() throws {
        if let error = error.withLock({ $0 }) { throw error }
    }
}
