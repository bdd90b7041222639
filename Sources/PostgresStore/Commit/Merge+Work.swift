import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// The merge's own tables, and the journal.
extension Merge {
    /// Returns an empty temporary table, which is created where none of this name exists. It goes with the transaction.
    func workTable(_ name: String, _ columns: String) throws -> String {
        let table = "\(StagingTable.temporarySchema).\("tributary_\(name)".sqlIdentifier)"
        try connection.executeScript(
            "CREATE TEMP TABLE IF NOT EXISTS \(table) (\(columns)) ON COMMIT DROP; TRUNCATE \(table)")
        return table
    }

    /// Counts the rows of a FROM clause.
    func count(_ rows: String) throws -> Int { try connection.execute("SELECT count(*) FROM \(rows)")[0].int(0) ?? 0 }

    /// Runs a statement that returns a journal key as `key` for each row that it changes, and journals these rows.
    ///
    /// - Parameters:
    ///   - order: the returned column by which they are journaled.
    ///   - isBack: a returned column that is true of rows that are journaled as inserted.
    ///   - statement: a further part of the WITH clause, which reads the returned rows as `changed`.
    /// - Returns: the number of changed rows.
    func journaled(
        _ change: String, _ table: String, _ operation: String, order: String? = nil, isBack: String? = nil,
        besides statement: String = ""
    ) throws -> Int {
        let operation =
            isBack.map { "CASE WHEN \($0) THEN 'insert' ELSE \(operation.postgresLiteral) END" }
            ?? operation.postgresLiteral
        return try connection.execute(
            """
            WITH changed AS (\(change))\(statement)
            INSERT INTO tributary_change (run, "table", key, operation)
            SELECT \(run), \(table.postgresLiteral), key, \(operation)
            FROM changed\(order.map { " ORDER BY " + $0 } ?? "")
            """
        ).affectedRows
    }

    /// Journals rows of a FROM clause.
    ///
    /// - Returns: their number.
    @discardableResult
    func writeJournal(_ table: String, key: String, operation: String, from rows: String) throws -> Int {
        try connection.execute(
            """
            INSERT INTO tributary_change (run, "table", key, operation)
            SELECT \(run), \(table.postgresLiteral), \(key), \(operation.postgresLiteral) FROM \(rows)
            """
        ).affectedRows
    }

    /// Returns the key of a merged row in the form that the journal stores: the value of the only key column, or a
    /// JSON array of several. A row without a key is named by its primary key, or else by its place.
    func journalKey(of table: StagingTable, _ details: TableDetails, _ alias: String) -> String {
        if case .key(let key, _) = table.identity { return details.journalKey(key, alias) }
        return details.journalKey(details.primaryKey, alias)
    }

    /// Returns the key of a row that is about to be deleted, in the form in which its insertion was journaled.
    func journalKey(of details: TableDetails, _ alias: String) -> String {
        let keyed = stack.parts.first { part in
            if case .key = part.table.identity { part.table.table.name == details.name } else { false }
        }
        return details.journalKey(keyed?.table.keyColumns ?? details.primaryKey, alias)
    }

    /// Returns a condition that two aliases stand for the same row: by key, or by every column, where two NULLs are
    /// the same.
    func isSameRow(_ table: StagingTable, _ left: String, _ right: String) throws -> String {
        if case .key = table.identity { return table.matches(left, right) }
        let details = try details(of: table.table.name)
        let columns = try table.identityColumns.map { try details.needed($0) }
        func record(_ alias: String) -> String { "ROW(\(columns.map { $0.exact(alias) }.joined(separator: ", ")))" }
        // By their hashes, the rows that may be the same are found at once.
        return """
            \(try rowHash(table, left)) = \(try rowHash(table, right))
            AND record_eq(\(record(left)), \(record(right)))
            """
    }
}
