package import FeedModel
import FeedStaging
import Foundation

/// The merge that restores a source's rows: it finds the wanted rows of each table in the history, checks that
/// nothing else has changed them, and merges them like a run's rows.
package struct UndoMerge {
    private let undo: Undo
    private let store: any UndoDriver
    private let queries: UndoQueries
    private var driver: any MergeDriver { store.driver }

    package init(_ undo: Undo, _ store: any UndoDriver) {
        self.undo = undo
        self.store = store
        queries = UndoQueries(undo, store.driver.dialect)
    }

    /// Merges the rows, and records the undo as a run.
    ///
    /// - Parameter seconds: the duration so far, called after the merge.
    /// - Returns: the recorded commit.
    /// - Throws: ``StoreError`` of the code `history` for rows that cannot be restored.
    package func record(
        as run: RecordedRun, _ ledger: Ledger, _ claims: CommitClaims, seconds: () -> Double
    ) throws -> Commit {
        var commit = undo.commit
        var changes = ChangeDigest()
        let noteChange = undo.shown.map { _ in { (change: PlannedChange) in changes.add(change) } }
        let merged = try execute(as: run, at: commit.report.startedAt + seconds(), ledger, onChange: noteChange)
        if let shown = undo.shown, shown != changes { throw undo.changedSinceShown }
        commit.report.counts = merged.counts
        commit.report.seconds = seconds()
        // The rows are no longer those of the feed's versions, nor those that others have sent.
        let writers = try merged.tables.sorted().flatMap(claims.requests)
        try ledger.write(commit, run: run)
        try ledger.requests.forgetValidators(of: Set(writers))
        return commit
    }

    /// Merges the rows, and reports each change.
    ///
    /// - Throws: as ``record(as:_:_:seconds:)``.
    package func plan(
        as run: RecordedRun, _ ledger: Ledger, onChange: @escaping (PlannedChange) throws -> Void
    ) throws -> MergeCounts { try execute(as: run, at: run.startedAt, ledger, onChange: onChange).counts }

    /// - Returns: the counts, and the tables whose rows were brought back.
    private func execute(
        as run: RecordedRun, at time: Date, _ ledger: Ledger, onChange: ((PlannedChange) throws -> Void)? = nil
    ) throws -> (counts: MergeCounts, tables: Set<String>) {
        try driver.histories.fixTexts()
        let commits = try ledger.runs.commits(of: undo.source, after: undo.run)
        try undo.check(commits, first: try ledger.runs.firstNumber())
        let undone = try undoneTables()
        // Nobody else writes to the tables from now on.
        try driver.lock(undone.map(\.stored))
        let tables = try undone.enumerated().map { try rows(of: $1, number: $0) }
        for table in tables { try checkUnchanged(table) }
        let report = onChange.map { onChange in
            { (change: PlannedChange) in if let reported = undo.reported(change) { try onChange(reported) } }
        }
        let removals = try tables.compactMap(removal)
        let merge = try store.merge(restoring: tables, removals: removals, onChange: report)
        merge.context.driver.beforeImages?.time = time
        var counts = try merge.execute()
        for table in tables { try checkRestored(table) }
        try checkOthers(tables, run: run.id)
        try store.checkConstraints()
        let correction = UndoneChangelog(undo: undo, driver: driver, run: run.id, lastChange: run.lastChange)
        for table in tables { try correction.correct(table.table, &counts) }
        return (counts, Set(tables.map(\.table.stored.name)))
    }

    /// Finds the tables whose rows the undone runs have changed, and checks that the old rows fit into them.
    private func undoneTables() throws -> [HistoryShape] {
        for history in try driver.histories.names() {
            guard try driver.table(history.table) == nil, try isConcerned(history.sql) else { continue }
            throw undo.missing(history.table)
        }
        return try driver.histories.histories().filter { table in
            guard try isConcerned(table.sql) else { return false }
            guard table.retyped.isEmpty else { throw undo.retyped(table.stored.name, table.retyped) }
            let key = try table.mergeKey()
            guard table.has(table.identity + key) else { throw undo.otherKey(table.stored.name, key) }
            let columns = key.map(\.sqlIdentifier)
            guard try !driver.isTrue(SQLText(queries.lacksKey(of: table, key: columns)).once) else {
                throw table.identity.isEmpty
                    ? undo.nullKey(table.stored.name, key) : undo.otherKey(table.stored.name, key)
            }
            return true
        }
    }

    private func isConcerned(_ history: String) throws -> Bool {
        try driver.isTrue(SQLText("SELECT EXISTS (SELECT 1 FROM \(history) h WHERE \(queries.isUndone))").once)
    }

    private func rows(of table: HistoryShape, number: Int) throws -> UndoneRows {
        let integer = driver.dialect.integer
        let entries = try driver.makeTable(
            "undo_\(number)", "first \(integer) PRIMARY KEY, last \(integer) NOT NULL")
        try driver.execute(SQLText("INSERT INTO \(entries) (first, last) \(queries.entries(of: table))").once)
        try driver.analyze(entries)
        let widths = try driver.all(SQLText(queries.widths(of: table)).once) { try $0.int(0) ?? 0 }
        let located = zip(RowList.located(table.stored), table.stored.locator).map { "\($0) \($1.definition)" }
        let names = RowList.located(table.stored).joined(separator: ", ")
        let removed = try driver.makeTable(
            "undo_removed_\(number)", "\(located.joined(separator: ", ")), UNIQUE (\(names))")
        return UndoneRows(table: table, entries: entries, removed: removed, widths: widths)
    }

    // MARK: - Checks

    /// Checks that each row is as the source's last run has left it, and was so before each of its runs.
    private func checkUnchanged(_ rows: UndoneRows) throws {
        for width in rows.widths {
            let since = queries.changedSince(rows.table, entries: rows.entries, width: width)
            try refuse(rows.table, since, undo.changedSince)
            try refuse(rows.table, queries.changedBetween(rows.table, width: width), undo.changedSince)
        }
    }

    /// Checks that the rows are restored: a trigger may have changed them again.
    private func checkRestored(_ rows: UndoneRows) throws {
        for width in rows.widths {
            try refuse(
                rows.table, queries.notRestored(rows.table, entries: rows.entries, width: width), undo.notRestored)
        }
    }

    /// Checks that no row has changed that is not to be brought back.
    private func checkOthers(_ tables: [UndoneRows], run: Int64) throws {
        for table in try driver.histories.histories() {
            let own = tables.first { $0.table.sql == table.sql }
            try refuse(table, queries.others(table, entries: own?.entries, run: run), undo.touchesOthers)
        }
    }

    /// - Parameter rows: a FROM clause for rows that prevent the undo, with their entries as `h`.
    private func refuse(
        _ table: HistoryShape, _ rows: String, _ error: (String, [String], Int) -> StoreError
    ) throws {
        let count = try driver.count(SQLText("SELECT count(*) \(rows)").once)
        guard count > 0 else { return }
        let keys = try driver.all(SQLText("SELECT \(table.key("h")) \(rows) LIMIT \(Undo.namedRows)").once) {
            $0.string(0) ?? "NULL"
        }
        throw error(table.stored.name, keys, count)
    }

    /// Lists the rows that were not there, or had another key; returns nil without one.
    private func removal(of rows: UndoneRows) throws -> Removal? {
        let table = rows.table
        let dialect = driver.dialect
        let located = RowList.located(table.stored).joined(separator: ", ")
        let isOther = try table.hasOtherKey("m", "h").map { " OR \($0)" } ?? ""
        let count = try driver.execute(
            dialect.insertNew(
                into: rows.removed, located,
                """
                SELECT \(table.stored.locators("m"))
                FROM \(rows.entries) u \(dialect.join) \(table.sql) h ON h.\(HistoryTable.id) = u.first
                \(dialect.join) \(table.stored.sql) m ON \(table.isRow("m", "h"))
                WHERE h.\(HistoryTable.operation) = 'insert'\(isOther)
                """
            ).once)
        return count > 0 ? Removal(table: table.stored, name: rows.removed) : nil
    }
}

/// A store's side of an undo.
package protocol UndoDriver {
    /// Asks the histories, in the transaction that undoes.
    var driver: any MergeDriver { get }

    /// Stages rows as they were, one part for each number of columns that a table had, and returns their merge.
    func merge(restoring tables: [UndoneRows], removals: [Removal], onChange: ((PlannedChange) throws -> Void)?) throws
        -> Merge

    /// Checks deferred constraints.
    func checkConstraints() throws
}

/// The rows of one table to restore.
package struct UndoneRows {
    package var table: HistoryShape
    /// The work table of the first and the last entry of each row, as `first` and `last`.
    package var entries: String
    /// The work table of the locators of rows that were not there.
    package var removed: String
    /// The numbers of columns that the table had.
    package var widths: [Int]
}
