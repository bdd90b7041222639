import FeedModel
import FeedStaging
import Foundation

/// The row changes of runs, according to the histories.
package struct RowChanges {
    /// An entry of a history, and the row that it keeps.
    struct Entry {
        var id: Int64
        var change: RowChange
        /// The digest of the row after the run; nil if it was deleted.
        var after: Int64?
        /// The key by which the changelog names the row; NULL where nobody has asked for it.
        var name: StoredValue
    }

    /// A row as a run may have left it.
    private struct Found {
        var digest: Int64?
        var values: RowChange.Values
    }

    /// The most ids of entries that are read at once.
    private static let idsAtOnce: Int64 = 500

    let catalog: any HistoryCatalog
    let ledger: Ledger
    /// True where values have the types of their columns, and not the texts over which digests are.
    private let isTyped: Bool
    var session: any SQLSession { catalog.session }

    package init(_ catalog: any HistoryCatalog, _ ledger: Ledger, isTyped: Bool = false) {
        self.catalog = catalog
        self.ledger = ledger
        self.isTyped = isTyped
    }

    /// Reports the rows that runs have changed: run by run, and within a run by table and in the order of the history.
    package func report(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws {
        try catalog.fixTexts()
        let shapes = try catalog.histories().filter { shape in
            query.table.map { $0.lowercased() == shape.stored.name.lowercased() } ?? true
        }
        var passed = query.passedOver
        for run in try ledger.runs.withHistory(query) {
            var after = query.after.flatMap { $0.run == run.run ? $0 : nil }
            let begin = after.map { place in shapes.firstIndex { $0.sql == place.history } ?? shapes.endIndex } ?? 0
            for shape in shapes[begin...] {
                try report(run, shape, query, after: after?.entry, passing: &passed, body)
                after = nil
            }
        }
    }

    /// Returns the last changes that a history keeps of some entries, the last one first.
    ///
    /// - Parameter isEntry: a condition on the entries, `h`.
    func last(of shape: HistoryShape, where isEntry: SQLText, most: Int) throws -> [RowChange] {
        try catalog.fixTexts()
        let entries = try session.all(
            """
            SELECT h.\(HistoryTable.id), h.\(HistoryTable.run), h.\(HistoryTable.width),
                \(ledger.dialect.date("h.\(HistoryTable.time)"))
            FROM \(shape.sql) h WHERE \(isEntry) ORDER BY h.\(HistoryTable.id) DESC LIMIT \(bind: most)
            """
        ) { row in
            (
                id: try row.int64(0) ?? 0, run: try row.int64(1) ?? 0, width: try row.int(2) ?? 0,
                time: try row.date(3) ?? .distantPast
            )
        }
        var changes: [RowChange] = []
        for entry in entries {
            let run =
                try ledger.runs.withHistory(ChangeQuery(run: entry.run), or: [shape.sql]).first
                // The history may outlive the run.
                ?? RowChange(run: entry.run, source: "", startedAt: entry.time)
            changes += try self.entries(
                run, shape, entry.width, where: "h.\(HistoryTable.id) = \(bind: entry.id)"
            ).map(\.change)
        }
        return changes
    }

    /// Reports a run's changes of a table.
    ///
    /// - Parameters:
    ///   - entry: the last entry that is not wanted; nil for all.
    ///   - passed: the number of changes to skip.
    private func report(
        _ run: RowChange, _ shape: HistoryShape, _ query: ChangeQuery, after entry: Int64?,
        passing passed: inout Int, _ body: (RowChange) throws -> Void
    ) throws {
        let isOfRun: SQLText = "\(HistoryTable.run) = \(bind: run.run)"
        let id = HistoryTable.id
        // Each from one end of the index: a run may have changed millions of rows.
        guard let begin = try session.int64("SELECT min(\(id)) FROM \(shape.sql) WHERE \(isOfRun)"),
            var end = try session.int64("SELECT max(\(id)) FROM \(shape.sql) WHERE \(isOfRun)")
        else { return }
        if let most = query.mostSearched { end = min(end, begin + Int64(most) - 1) }
        let isOfOperation: SQLText = query.operation.map { " AND \(HistoryTable.operation) = \(bind: $0)" } ?? ""
        let entries: SQLText = """
            FROM \(shape.sql) WHERE \(isOfRun) AND \(id) > \(bind: entry ?? begin - 1) AND \(id) <= \(bind: end)\(isOfOperation)
            """
        guard
            let start = try session.int64(
                "SELECT \(id) \(entries) ORDER BY \(id) LIMIT 1 OFFSET \(bind: passed)")
        else {
            if passed > 0 { passed -= try session.int64("SELECT count(*) \(entries)").map(Int.init) ?? 0 }
            return
        }
        passed = 0
        for first in stride(from: start, through: end, by: Int64.Stride(Self.idsAtOnce)) {
            let isRead: SQLText = """
                h.\(HistoryTable.run) = \(bind: run.run) AND h.\(id) >= \(bind: first)
                AND h.\(id) < \(bind: min(first + Self.idsAtOnce, end + 1))\(isOfOperation)
                """
            for entry in try self.entries(run, shape, where: isRead) { try body(entry.change) }
        }
    }

    /// Returns some entries, by the number of columns that the table had.
    ///
    /// - Parameter name: an expression over an entry `h` for the row's key in the changelog.
    func entries(
        _ run: RowChange, _ shape: HistoryShape, where isRead: SQLText, name: String = "NULL"
    ) throws -> [Entry] {
        let widths = try session.all(
            "SELECT DISTINCT h.\(HistoryTable.width) FROM \(shape.sql) h WHERE \(isRead) ORDER BY 1"
        ) { try $0.int(0) ?? 0 }
        return try widths.flatMap { width in
            try entries(
                run, shape, width, where: "\(isRead) AND h.\(HistoryTable.width) = \(bind: width)", name: name)
        }
    }

    /// Returns some entries. The row after the run is that of the row's next entry, or the present row.
    ///
    /// - Parameter width: the number of columns that the table had.
    private func entries(
        _ run: RowChange, _ shape: HistoryShape, _ width: Int, where isRead: SQLText, name: String = "NULL"
    ) throws -> [Entry] {
        var entries = try keptEntries(run, shape, width, where: isRead, name: name)
        // For rows with another key, only the history's own values are known.
        var found = shape.hasIdentity ? try nextEntries(shape, width, where: isRead) : [:]
        if shape.hasIdentity, found.count < entries.count {
            found.merge(try storedRows(shape, width, where: isRead)) { next, _ in next }
        }
        for index in entries.indices {
            let left = found[entries[index].id]
            let isKnown = left?.digest == entries[index].after
            entries[index].change.isKnown = isKnown
            entries[index].change.new = entries[index].after != nil && isKnown ? left?.values : nil
        }
        return entries
    }

    private func keptEntries(
        _ run: RowChange, _ shape: HistoryShape, _ width: Int, where isRead: SQLText, name: String
    ) throws -> [Entry] {
        let key = Set(shape.key.map { $0.lowercased() })
        return try session.all(
            """
            SELECT h.\(HistoryTable.id), h.\(HistoryTable.operation), h.\(HistoryTable.after), h.\(HistoryTable.row),
                \(name), \(values(shape, width) { "h." + $0.sqlIdentifier })
            FROM \(shape.sql) h WHERE \(isRead) ORDER BY h.\(HistoryTable.id)
            """
        ) { row in
            let kept = try read(row, from: 5, shape, width)
            var change = run
            change.table = shape.stored.name
            change.place = RowChange.Place(run: run.run, history: shape.sql, entry: try row.int64(0) ?? 0)
            change.operation = row.string(1) ?? ""
            change.key = kept.filter { key.contains($0.column.lowercased()) }
            if key.isEmpty { change.key = [(shape.stored.rowID ?? "rowid", row.storedValue(3))] }
            change.old = change.operation == "insert" ? nil : kept
            return Entry(
                id: try row.int64(0) ?? 0, change: change, after: try row.int64(2), name: row.storedValue(4))
        }
    }

    /// Returns the before-images in the next entry of each row.
    private func nextEntries(_ shape: HistoryShape, _ width: Int, where isRead: SQLText) throws -> [Int64: Found] {
        let isSame = shape.groupColumns.map { "x.\($0) = h.\($0)" }.joined(separator: " AND ")
        let id = HistoryTable.id
        let next: SQLText = """
            SELECT h.\(id) AS id, (SELECT min(x.\(id)) FROM \(shape.sql) x WHERE \(isSame) AND x.\(id) > h.\(id)) AS next
            FROM \(shape.sql) h WHERE \(isRead)
            """
        return try found(
            shape, width, digest: shape.digest(ofEntry: "n", width: width), { "n." + $0.sqlIdentifier },
            from: "(\(next)) h \(catalog.dialect.join) \(shape.sql) n ON n.\(id) = h.next", id: "h.id")
    }

    /// Returns the existing rows.
    private func storedRows(_ shape: HistoryShape, _ width: Int, where isRead: SQLText) throws -> [Int64: Found] {
        let stored = shape.stored
        return try found(
            shape, width, digest: shape.digest(ofStored: "m", width: width), { shape.value($0, in: "m") },
            from: """
                \(shape.sql) h \(catalog.dialect.join) \(stored.sql) m ON \(shape.isRow("m", "h")) WHERE \(isRead)
                """, id: "h.\(HistoryTable.id)")
    }

    private func found(
        _ shape: HistoryShape, _ width: Int, digest: String, _ value: (String) -> String, from rows: SQLText, id: String
    ) throws -> [Int64: Found] {
        var found: [Int64: Found] = [:]
        try session.forEachRow(of: "SELECT \(id), \(digest), \(values(shape, width, value)) FROM \(rows)") { row in
            found[try row.int64(0) ?? 0] = Found(digest: try row.int64(1), values: try read(row, from: 2, shape, width))
            return true
        }
        return found
    }

    // MARK: - Values

    private func values(_ shape: HistoryShape, _ width: Int, _ value: (String) -> String) -> String {
        shape.columns.prefix(width).map { isTyped ? value($0) : catalog.selected(value($0)) }.joined(separator: ", ")
    }

    private func read(_ row: any SQLRow, from first: Int, _ shape: HistoryShape, _ width: Int) throws
        -> RowChange.Values
    {
        try shape.columns.prefix(width).enumerated().map { index, name in
            let (column, place) = (shape.stored.column(name), first + index)
            guard isTyped else { return (name, try catalog.value(row, place, of: column)) }
            guard let column else { return (name, row.storedValue(place)) }
            return (name, try catalog.dialect.value(of: column, row, place))
        }
    }
}
