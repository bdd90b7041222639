import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// The work of a transaction that brings a source's rows back to what they were: it finds the rows of each table as they are
/// wanted in the history, checks that nothing else has changed them, and merges them as a run's rows are merged.
struct UndoTransaction {
    let store: PostgresStore
    let connection: PostgresConnection
    let undo: Undo

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

    private var queries: UndoQueries {
        UndoQueries(
            undo, .init(runs: "tributary_run", join: "JOIN", isDistinct: "IS DISTINCT FROM") { $0.postgresLiteral })
    }

    /// Merges the rows.
    ///
    /// - Parameters:
    ///   - run: the run that undoes.
    ///   - lock: locks the tables of a merge.
    func execute(
        run recorded: RecordedRun, onChange: ((PlannedChange) throws -> Void)? = nil, lock: (Merge) throws -> Void
    ) throws -> Outcome {
        let run = recorded.id
        try connection.fixTexts()
        let first = try connection.execute("SELECT min(id) FROM tributary_run")[0].int64(0) ?? 0
        try undo.check(try connection.commits(of: undo.source, after: undo.run), first: first)
        let known = MergeTables(connection, store.tableDetails)
        let shapes = try HistoryShape.all(connection, known).filter { shape in
            try connection.execute("SELECT EXISTS (SELECT 1 FROM \(shape.sql) h WHERE \(queries.isUndone))")[0].bool(0)
                == true
        }
        try checkMissing(shapes)
        // Nobody else writes to the tables from now on.
        try lock(
            Merge(
                connection: connection, run: run, stack: StagedStack(path: nil, parts: []), store: store,
                mirrors: shapes.map { MirroredRows(table: $0.table.name, scope: [:], window: nil) }))
        let tables = try shapes.enumerated().map { index, shape in try table(shape, index) }
        for table in tables { try check(table) }
        let changelog = undo.changelog
        var merge = try merge(
            tables, run: run,
            onChange: onChange.map { report in { change in if let told = changelog.told(change) { try report(told) } } }
        )
        merge.removals = try tables.compactMap(removal)
        var counts = try merge.execute()
        for table in tables { try checkRestored(table) }
        try checkOthers(tables, run: run, merge.tables)
        for table in tables { try correctChangelog(of: table.shape, recorded, &counts) }
        return Outcome(counts: counts, tables: Set(tables.map(\.shape.table.name)))
    }

    /// Checks that every table is there whose rows the undone runs have changed, and that it takes them as they were.
    private func checkMissing(_ shapes: [HistoryShape]) throws {
        if let retyped = shapes.first(where: { !$0.retyped.isEmpty }) {
            throw undo.retyped(retyped.table.name, retyped.retyped)
        }
        for shape in shapes {
            guard !shape.table.isLocatedByPlace else { throw Undo.noKey(shape.table.name) }
            guard shape.hasIdentity,
                try connection.execute(queries.lacksKey(of: shape, key: shape.identity))[0].bool(0) == false
            else { throw undo.otherKey(shape.table.name, shape.keyColumns) }
        }
        let known = Set(shapes.map(\.table.name))
        for history in try HistoryName.all(connection) {
            guard let name = history.table, !known.contains(name), try Catalog(connection).table(name) == nil else {
                continue
            }
            let row = try connection.execute(
                "SELECT EXISTS (SELECT 1 FROM \(history.sql) h WHERE \(queries.isUndone))")[0]
            if try row.bool(0) == true { throw undo.missing(name) }
        }
    }

    /// Checks that the rows are what they were: a trigger may have changed them again.
    private func checkRestored(_ table: Table) throws {
        let shape = table.shape
        for width in try widths(of: table) {
            let rows = queries.notRestored(
                shape, entries: table.entries, width: width, isRow: shape.isRow("m", "h"))
            try refuse(shape, rows, undo.notRestored)
        }
    }

    private func table(_ shape: HistoryShape, _ index: Int) throws -> Table {
        let entries = "pg_temp.tributary_undo_\(index)"
        try connection.executeScript(
            """
            CREATE TEMP TABLE \(entries) ON COMMIT DROP AS
            \(queries.entries(of: shape));
            CREATE UNIQUE INDEX ON \(entries) (first);
            ANALYZE \(entries)
            """)
        return Table(shape: shape, entries: entries)
    }

    private func widths(of table: Table) throws -> [Int] {
        try connection.execute(queries.widths(of: table.shape)).compactMap { try $0.int(0) }
    }

    /// Checks that each row is as the source's last run has left it, and was so before each of its runs.
    private func check(_ table: Table) throws {
        let shape = table.shape
        for width in try widths(of: table) {
            try refuse(
                shape, queries.changedSince(shape, entries: table.entries, width: width), undo.changedSince)
            try refuse(shape, queries.changedBetween(shape, width: width), undo.changedSince)
        }
    }

    /// - Parameter rows: a FROM clause for rows that prevent the undo, with their entries as `h`.
    private func refuse(
        _ shape: HistoryShape, _ rows: String, _ error: (String, [String], Int) -> StoreError
    ) throws {
        let count = try connection.execute("SELECT count(*) \(rows)")[0].int(0) ?? 0
        guard count > 0 else { return }
        let keys = try connection.execute("SELECT \(shape.key("h")) \(rows) LIMIT \(Undo.namedRows)")
        throw error(shape.table.name, keys.map { $0.string(0) ?? "NULL" }, count)
    }

    /// Finds the rows that were not there.
    private func removal(of table: Table) throws -> Merge.Removal? {
        let shape = table.shape
        let located = ChangedRows.located(shape.table)
        let name = table.entries + "_gone"
        let columns = zip(located, shape.identity).map { "m.\($1) AS \($0)" }.joined(separator: ", ")
        let found = try connection.execute(
            """
            CREATE TEMP TABLE \(name) ON COMMIT DROP AS SELECT \(columns)
            FROM \(table.entries) u JOIN \(shape.sql) h ON h.\(HistoryTable.id) = u.first
            JOIN \(shape.table.sql) m ON \(shape.isRow("m", "h")) WHERE h.\(HistoryTable.operation) = 'insert'
            """)
        return found.affectedRows > 0 ? Merge.Removal(table: shape.table, name: name) : nil
    }

    /// Stages the rows as they were: one part for each number of columns that a table had.
    private func merge(
        _ tables: [Table], run: Int64, onChange: ((PlannedChange) throws -> Void)?
    ) throws -> Merge {
        var stack = StagedStack(path: nil, parts: [])
        var origins: [(table: Table, width: Int)] = []
        for table in tables {
            let shape = table.shape
            let info = shape.table.writingIdentities
            for width in try widths(of: table) {
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
                origins.append((table, width))
            }
        }
        var merge = Merge(
            connection: connection, run: run, stack: stack, store: store, mirrors: [], onChange: onChange)
        merge.keepsHistory = true
        merge.restoresSpelling = true
        try merge.tables.load(tables.map(\.shape.table.name))
        for (part, origin) in zip(merge.stack.parts, origins) {
            try merge.create(part)
            let names = part.table.columns.map(\.name.sqlIdentifier)
            let entry = origin.table.shape
            part.counts.rows = try connection.execute(
                """
                INSERT INTO \(part.table.staged) (\(StagingTable.row), \(names.joined(separator: ", ")))
                SELECT h.\(HistoryTable.id), \(names.map { "h." + $0 }.joined(separator: ", "))
                FROM \(origin.table.entries) u JOIN \(entry.sql) h ON h.\(HistoryTable.id) = u.first
                WHERE h.\(HistoryTable.operation) <> 'insert' AND h.\(HistoryTable.width) = \(origin.width)
                """
            ).affectedRows
            part.counts.nulls = names.map { _ in 1 }
            try connection.execute("ANALYZE \(part.table.staged)")
            try merge.indexKey(of: part)
        }
        return merge
    }

    /// Checks that no row has changed that is not to be brought back.
    private func checkOthers(_ tables: [Table], run: Int64, _ known: MergeTables) throws {
        for shape in try HistoryShape.all(connection, known) {
            let own = tables.first { $0.shape.table.oid == shape.table.oid }
            try refuse(shape, queries.others(shape, entries: own?.entries, run: run), undo.touchesOthers)
        }
    }
}

extension HistoryShape: UndoneTable {
    var storedSQL: String { table.sql }
    var groupColumns: [String] { identity }
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
