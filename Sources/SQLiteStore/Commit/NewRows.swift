import FeedStaging
import GRDB

/// The rows that an insertion is about to add to a table, as those whose row ids the table does not have yet.
struct NewRows {
    /// A condition on a row of the table, `m`.
    let condition: String
    let arguments: StatementArguments
}

extension Merge {
    /// Returns what tells the rows of the next insertion from those that a table has.
    ///
    /// - Parameters:
    ///   - number: tells two insertions from one another that are under way at once.
    func newRows(of table: StagingTable, rowID: String, number: Int = 0) throws -> NewRows {
        let last = try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(\(rowID)) FROM \(table.qualifiedTable)"))
        // Row ids that SQLite gives are above all others, until the largest is taken: then they are any that are free
        // (autoinc.html).
        guard last == .max else { return NewRows(condition: "m.\(rowID) > ?", arguments: [last ?? 0]) }
        let known = try workTable("known_\(number)", "id INTEGER PRIMARY KEY")
        progress.tablesToEmpty.append(known)
        try db.execute(sql: "INSERT INTO \(known) SELECT \(rowID) FROM \(table.qualifiedTable)")
        return NewRows(condition: "m.\(rowID) NOT IN (SELECT id FROM \(known))", arguments: [])
    }

    /// Notes the largest row id of each table whose new rows get one from SQLite, as it is before the commit.
    func noteLastRowIDs() throws {
        for part in stack.parts where part.counts.rows > 0 {
            let table = part.table
            guard let key = table.table.generatedKey, !table.supplies(key), let rowID = table.table.rowID else {
                continue
            }
            progress.lastRowIDs[table.table.name] = try Int64.fetchOne(
                db.cachedStatement(sql: "SELECT max(\(rowID)) FROM \(table.qualifiedTable)"))
        }
    }

    /// Returns the row id above which the next insertion's row ids are to lie, because this commit has deleted the rows
    /// with the largest ones. SQLite would give their row ids to the new rows, and whatever refers to a deleted row would
    /// refer to a new one. Nil where SQLite's own row ids are above all that were there.
    ///
    /// - Parameter count: the number of rows to insert.
    func freedRowID(of table: StagingTable, count: Int) throws -> Int64? {
        guard !partsWithPlaces.contains(table.name), let former = progress.lastRowIDs[table.table.name],
            let rowID = table.table.rowID, let key = table.table.generatedKey, !table.supplies(key),
            former <= .max - Int64(count)
        else { return nil }
        let last = try Int64.fetchOne(db.cachedStatement(sql: "SELECT max(\(rowID)) FROM \(table.qualifiedTable)"))
        guard last ?? .min < former, try !hasSequence(table.table) else { return nil }
        return former
    }

    /// Returns true for a table under AUTOINCREMENT, which never gives a row id twice (autoinc.html).
    private func hasSequence(_ table: TableInfo) throws -> Bool {
        let isThere = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_sequence')")
        guard isThere == true else { return false }
        return try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM main.sqlite_sequence WHERE lower(name) = lower(?))",
            arguments: [table.name]) == true
    }
}
