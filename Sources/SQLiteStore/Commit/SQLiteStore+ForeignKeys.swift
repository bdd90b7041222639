import FeedModel
import FeedStaging
import GRDB

extension SQLiteStore {
    /// Checks the foreign keys, which are deferred while a transaction merges.
    ///
    /// - Parameters:
    ///   - db: the writing connection, in the transaction.
    ///   - tables: the tables that the merge has used. All others are looked at only if these have no such row.
    /// - Throws: ``StoreError`` naming a row that the transaction has left without its parent.
    func checkForeignKeys(_ db: Database, of tables: [String] = []) throws {
        guard db.hasBrokenForeignKeys else { return }
        let connection = try Self.openStates(path, lockWait)
        let found = Result {
            try connection.read { before in
                for table in tables.map({ "(\($0.sqlIdentifier))" }) + [""] {
                    let violations = try Row.fetchCursor(db, sql: "PRAGMA main.foreign_key_check\(table)")
                    while let violation = try violations.next() {
                        let broken = try BrokenReference(violation, db)
                        if try !broken.isOlder(before) { return BrokenReference?.some(broken) }
                    }
                }
                return nil
            }
        }
        try connection.close()
        if let broken = try found.get() { throw broken.error }
    }
}

extension Database {
    /// Checks the foreign keys of a table, or of all tables.
    ///
    /// - Parameter ending: the end of the message.
    /// - Throws: ``StoreError`` naming a row without its parent.
    func checkForeignKeys(of table: String? = nil, ending: String) throws {
        let table = table.map { "(\($0.sqlIdentifier))" } ?? ""
        guard let violation = try Row.fetchOne(self, sql: "PRAGMA main.foreign_key_check\(table)") else { return }
        var error = try BrokenReference(violation, self).error
        error.message += "; " + ending
        throw error
    }
}

/// A row whose parent is missing.
private struct BrokenReference {
    private let table: String
    private let parent: String
    private let columns: [String]
    /// Empty for the parent's primary key.
    private let targets: [String]
    private let rowID: Int64?
    private let row: Row?
    private let shown: String

    /// - Parameters:
    ///   - violation: a row of `PRAGMA foreign_key_check`.
    ///   - db: the connection that has returned it.
    init(_ violation: Row, _ db: Database) throws {
        let table: String = violation["table"]
        let constraint: Int = violation["fkid"]
        self.table = table
        parent = violation["parent"]
        rowID = violation["rowid"]
        let key = try Row.fetchAll(db, sql: "PRAGMA main.foreign_key_list(\(table.sqlIdentifier))")
            .filter { ($0["id"] as Int) == constraint }
        columns = key.map { $0["from"] }
        targets = key.compactMap { $0["to"] as String? }
        row = try rowID.flatMap { rowID in
            try Row.fetchOne(
                db, sql: "SELECT * FROM main.\(table.sqlIdentifier) WHERE rowid = ?", arguments: [rowID])
        }
        shown = row.map { describe($0) } ?? "without a row id"
    }

    /// Returns true if the row, with these values, had no parent before the transaction either.
    ///
    /// - Parameter before: a connection that does not see the transaction.
    func isOlder(_ before: Database) throws -> Bool {
        guard let rowID, let row, let old = try StoredTable(before, table: table, schema: "main"),
            columns.allSatisfy({ old.column($0) != nil }),
            let known = try StoredTable(before, table: parent, schema: "main")
        else { return false }
        let targets = targets.isEmpty ? known.primaryKey : targets
        guard targets.count == columns.count, targets.allSatisfy({ known.column($0) != nil }) else { return false }
        let isSame = columns.map { "c.\($0.sqlIdentifier) IS ?" }.joinedConditions("AND")
        // The parent's column stands on the left, so that its affinity and collation decide, as in a foreign key.
        let isParent = zip(targets, columns).map { "p.\($0.sqlIdentifier) = c.\($1.sqlIdentifier)" }
            .joinedConditions("AND")
        return try Bool.fetchOne(
            before,
            sql: """
                SELECT EXISTS (
                    SELECT 1 FROM main.\(table.sqlIdentifier) c WHERE c.rowid = ? AND \(isSame)
                    AND NOT EXISTS (SELECT 1 FROM main.\(parent.sqlIdentifier) p WHERE \(isParent)))
                """,
            arguments: StatementArguments([rowID.databaseValue] + columns.map { row[$0] as DatabaseValue })) ?? false
    }

    var error: StoreError {
        let reference = targets.isEmpty ? parent : "\(parent)(\(targets.joined(separator: ", ")))"
        return StoreError(
            .constraint,
            "table '\(table)': foreign key (\(columns.joined(separator: ", "))) REFERENCES \(reference) has no such row, "
                + "in the row \(shown)")
    }
}
