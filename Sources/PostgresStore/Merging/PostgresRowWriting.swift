import FeedModel
import FeedStaging
import FeedStores

/// Statements that write rows, and return which rows they have written to the changelog.
extension PostgresMergeDriver {
    func insert(_ rows: Insertion, in merge: MergeContext) throws -> Int {
        let table = rows.part.table
        let details = rows.table
        let names = table.allColumns.map(\.name)
        let source = "\(rows.rows) ORDER BY \(rows.order)"
        try ChangeReport(merge: merge).insertion(of: table, into: details, from: source)
        let overriding =
            names.contains { details.column($0)?.identity == .always } ? " OVERRIDING SYSTEM VALUE" : ""
        let insertion = """
            INSERT INTO \(details.sql) AS m (\(names.map(\.sqlIdentifier).joined(separator: ", ")))\(overriding)
            SELECT \(names.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")) FROM \(source)
            RETURNING \(merge.changelogKey(of: table, details, "m")) AS key
            """
        return try UniqueConflicts(merge, in: table, of: details, remaining: rows.remaining).resolving {
            try logging(
                insertion + returning(details), details.name, "'insert'", adding: noting(details))
        }
    }

    func update(_ rows: Difference, of remaining: ArraySlice<Difference>, in merge: MergeContext) throws -> Int {
        let table = rows.table
        let cleared = try merge.deletionMark(of: rows.stored).map { ["\($0) = NULL"] } ?? []
        // PostgreSQL writes an identity that it generates always only with the row.
        let columns = rows.updatedColumns.filter { rows.stored.column($0)?.identity != .always }
        let assignments = columns.map(\.sqlIdentifier).map { "\($0) = s.\($0)" } + cleared
        // The changelog gets the key as the store has it.
        let statement = """
            UPDATE \(rows.stored.sql) AS m SET \(assignments.joined(separator: ", ")) FROM \(rows.rows(dialect))
            WHERE NOT d.is_new AND \(table.matches("m", "s"))
            RETURNING \(merge.changelogKey(of: table, rows.stored, "m")) AS key, d.id, d.is_restored
            """
        let operation = rows.restored > 0 ? "CASE WHEN is_restored THEN 'insert' ELSE 'update' END" : "'update'"
        return try UniqueConflicts(merge, in: table, of: rows.stored, remaining: remaining).resolving {
            try logging(statement, rows.stored.name, operation, order: " ORDER BY id")
        }
    }

    func delete(_ rows: RowList, with cascaded: [RowList], in merge: MergeContext) throws -> Int {
        try connection.execute(dialect.deletion(of: rows)).affectedRows
    }

    /// Runs a statement that returns the changelog's key as `key` for each row that it changes, and logs these rows.
    ///
    /// - Parameters:
    ///   - operation: an expression for the operation.
    ///   - statement: a further part of the WITH clause, which reads the returned rows as `changed`.
    /// - Returns: the number of changed rows.
    private func logging(
        _ change: String, _ table: String, _ operation: String, order: String = "", adding statement: SQLText = ""
    ) throws -> Int {
        try execute(
            """
            WITH changed AS (\(change))\(statement)
            INSERT INTO tributary_change (run, "table", key, operation)
            SELECT \(bind: run), \(table.postgresLiteral), key, \(operation) FROM changed\(order)
            """)
    }

    /// The RETURNING clause of an insertion, for the history.
    private func returning(_ table: StoredTable) -> String {
        guard beforeImages != nil else { return "" }
        return zip(RowList.located(table), table.locator).map { ", m.\($1.sql) AS \($0)" }.joined()
    }

    /// Returns a further part of a WITH clause, which notes rows of `changed` for the history.
    private func noting(_ table: StoredTable) throws -> SQLText {
        guard let images = beforeImages else { return "" }
        let located = RowList.located(table).joined(separator: ", ")
        return ", kept AS (\(try images.noting(table, located, from: "changed")))"
    }
}
