import FeedStaging

/// The queries of an undo on the histories of a store's tables.
struct UndoQueries: Sendable {
    private let undo: Undo
    private let dialect: any SQLDialect

    init(_ undo: Undo, _ dialect: any SQLDialect) {
        self.undo = undo
        self.dialect = dialect
    }

    /// A condition that an entry is of an undone run.
    var isUndone: String {
        """
        h.\(HistoryTable.run) > \(undo.run) AND h.\(HistoryTable.run) IN (
            SELECT id FROM \(dialect.runs) WHERE source = \(dialect.literal(undo.source)) AND id > \(undo.run))
        """
    }

    /// Selects whether the undone runs have changed rows whose entries lack a part of the key, as the table has got another
    /// key since.
    ///
    /// - Parameter key: the columns by which the rows are merged, as SQL names them.
    func lacksKey(of table: HistoryShape, key: [String]) -> String {
        func isNull(_ columns: [String]) -> String { columns.map { "h.\($0) IS NULL" }.joined(separator: " OR ") }
        return """
            SELECT EXISTS (SELECT 1 FROM \(table.sql) h WHERE \(isUndone)
                AND (\(isNull(table.groupColumns)) OR h.\(HistoryTable.operation) <> 'insert' AND (\(isNull(key)))))
            """
    }

    /// Selects the first and the last entry of each row that the undone runs have changed.
    func entries(of table: HistoryShape) -> String {
        """
        SELECT min(h.\(HistoryTable.id)) AS first, max(h.\(HistoryTable.id)) AS last FROM \(table.sql) h
        WHERE \(isUndone) GROUP BY \(group(table))
        """
    }

    /// Selects the numbers of columns that the table had.
    func widths(of table: HistoryShape) -> String {
        "SELECT DISTINCT h.\(HistoryTable.width) FROM \(table.sql) h WHERE h.\(HistoryTable.run) > \(undo.run) ORDER BY 1"
    }

    // MARK: - What prevents it: FROM clauses with the entry as h

    /// Rows that have changed since the source's last run.
    ///
    /// - Parameter entries: the table of the result of ``entries(of:)``.
    func changedSince(_ table: HistoryShape, entries: String, width: Int) -> String {
        """
        FROM \(entries) u \(dialect.join) \(table.sql) h ON h.\(HistoryTable.id) = u.last
        LEFT JOIN \(table.stored.sql) m ON \(table.isRow("m", "h"))
        WHERE h.\(HistoryTable.width) = \(width)
            AND \(dialect.isDistinct("h.\(HistoryTable.after)", from: table.digest(ofStored: "m", width: width)))
        """
    }

    /// Rows that something else has changed between two runs of the source.
    func changedBetween(_ table: HistoryShape, width: Int) -> String {
        """
        FROM (
            SELECT lead(h.\(HistoryTable.id)) OVER entries AS next, h.\(HistoryTable.after) AS after,
                h.\(HistoryTable.width) AS width
            FROM \(table.sql) h WHERE \(isUndone)
            WINDOW entries AS (PARTITION BY \(group(table)) ORDER BY h.\(HistoryTable.id))
        ) e \(dialect.join) \(table.sql) h ON h.\(HistoryTable.id) = e.next
        WHERE e.width = \(width) AND \(dialect.isDistinct("e.after", from: table.digest(ofEntry: "h", width: width)))
        """
    }

    /// Rows that differ from the wanted ones at the end.
    func notRestored(_ table: HistoryShape, entries: String, width: Int) throws -> String {
        let isOther = dialect.isDistinct(
            table.digest(ofEntry: "h", width: width), from: table.digest(ofStored: "m", width: width))
        return """
            FROM \(entries) u \(dialect.join) \(table.sql) h ON h.\(HistoryTable.id) = u.first
            LEFT JOIN \(table.stored.sql) m ON \(try table.isRestoredRow("m", "h"))
            WHERE h.\(HistoryTable.width) = \(width) AND \(isOther)
            """
    }

    /// Rows that the undo has changed unintentionally.
    ///
    /// - Parameter entries: the table of the result of ``entries(of:)``; nil for a table without any.
    func others(_ table: HistoryShape, entries: String?, run: Int64) -> String {
        let isOwn = entries.map { entries in
            let isSame = table.groupColumns.map { "p.\($0) = h.\($0)" }.joined(separator: " AND ")
            return """
                 AND NOT EXISTS (
                    SELECT 1 FROM \(table.sql) p \(dialect.join) \(entries) u ON u.first = p.\(HistoryTable.id)
                    WHERE \(isSame))
                """
        }
        return "FROM \(table.sql) h WHERE h.\(HistoryTable.run) = \(run)\(isOwn ?? "")"
    }

    private func group(_ table: HistoryShape) -> String {
        table.groupColumns.map { "h." + $0 }.joined(separator: ", ")
    }
}
