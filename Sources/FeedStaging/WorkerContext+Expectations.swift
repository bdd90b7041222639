import FeedModel
import GRDB

/// Conditions on the rows that a run has staged, before they are merged. They are in SQLite's SQL whatever the store.
extension WorkerContext {
    /// Returns what speaks against a condition over the staged rows; nil if it holds.
    ///
    /// - Parameters:
    ///   - condition: an expression or a SELECT over the tables of the schema `staged`.
    ///   - isOver: returns true once the time for it is over.
    /// - Throws: ``StoreError`` if it cannot be evaluated; `CancellationError` after an interruption.
    package func finding(against condition: String, isOver: @escaping () -> Bool) throws -> String? {
        try exposeStagedRows(to: condition, forConditions: true)
        var isLate = false
        let reader = try StagedRowsReader(path: openScratch().path) { [scratch] in
            isLate = isLate || isOver()
            return isLate || scratch.isInterrupted
        }
        do { return try reader.finding(against: condition) } catch {
            try scratch.checkInterruption()
            if isLate { throw StoreError(.limit, "takes too long") }
            throw error
        }
    }

    /// Compiles a condition over the columns of the store's tables.
    ///
    /// - Throws: ``StoreError`` if it cannot be evaluated.
    package func check(condition: String) throws {
        try exposeStagedRows(to: condition, forConditions: true)
        try StagedRowsReader(path: openScratch().path) { false }.check(condition)
    }

    /// Returns the number of rows that a request has staged, without those that its own later rows replace. A row that a
    /// later request also fills counts for each.
    ///
    /// - Parameter table: the rows of this table alone; nil for those of all tables.
    package func countRows(ofRequest index: Int, in table: String? = nil) throws -> Int {
        let live = try liveRows(ofRequest: index)
        let rows = Staging.rows(ofRequest: index)
        return try inScratch { db in
            var sum = 0
            for staged in live where !staged.isLookUp {
                guard table.map({ $0.lowercased() == staged.table.name.lowercased() }) ?? true else { continue }
                let isCounted =
                    ["s.\(StagingTable.row) BETWEEN ? AND ?"]
                    + staged.isLatest("s", among: live.filter { $0.name != staged.name })
                sum +=
                    try Int.fetchOne(
                        db, sql: "SELECT count(*) FROM \(staged.name) s\(isCounted.whereClause)",
                        arguments: [rows.lowerBound, rows.upperBound]) ?? 0
            }
            return sum
        }
    }
}
