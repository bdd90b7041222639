import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// New rows.
extension Merge {
    /// Inserts rows, and journals those that the table has then: a trigger, or a conflict clause of the table, may drop
    /// some.
    ///
    /// - Parameter source: the FROM clause, with the staged rows as `s`.
    /// - Returns: the number of rows that the table has then.
    func insert(_ part: StagedStack.Part, _ count: Int, from source: String, order: String) throws -> Int {
        let table = part.table
        var names = table.allColumns.map(\.name.sqlIdentifier)
        var values = names.map { "s." + $0 }
        if partsWithPlaces.contains(table.name), let rowID = table.table.rowID {
            names.append(rowID)
            values.append("s." + StagingTable.place)
        }
        var arguments = StatementArguments()
        if let freed = try freedRowID(of: table, count: count), let rowID = table.table.rowID {
            names.append(rowID)
            values.append("? + row_number() OVER (ORDER BY \(order))")
            arguments = [freed]
        }
        let rows = "\(source) ORDER BY \(order)"
        let insertion = """
            INSERT INTO \(table.qualifiedTable) (\(names.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM \(rows)
            """
        func write() throws -> Int {
            try deleteReplaced(by: part, from: source) { try db.execute(cached: insertion, arguments) }
            return try noting(table, from: rows) { try execute(insertion, arguments, of: count, into: part) }
        }
        guard case .key = table.identity else { return try insert(part, count, from: rows, write) }
        let inserted = try makingRoom(in: table, write)
        var written = rows
        if inserted != count || table.table.hasConflictClause {
            let isThere = "EXISTS (SELECT 1 FROM \(table.qualifiedTable) m WHERE \(table.matches("m", "s")))"
            written = "(SELECT s.* FROM \(rows)) s WHERE \(isThere)"
        }
        try tellInsertion(of: table, "s", from: written)
        try writeJournal(table.table.name, key: table.journalKey("s"), operation: "insert", from: written)
        return db.changesCount
    }

    /// Inserts rows that only their row ids tell apart.
    private func insert(
        _ part: StagedStack.Part, _ count: Int, from rows: String, _ write: () throws -> Int
    ) throws -> Int {
        let table = part.table
        let rowID = table.table.rowID ?? "rowid"
        let (new, inserted) = try makingRoom(in: table) { (try newRows(of: table, rowID: rowID), try write()) }
        let written = "\(table.qualifiedTable) m WHERE \(new.condition) ORDER BY m.\(rowID)"
        if inserted == count {
            try tellInsertion(of: table, "s", from: rows)
        } else {
            try tellInsertion(of: table, "m", from: written, new.arguments)
        }
        try writeJournal(
            table.table.name, key: "m.\(rowID)", operation: "insert", from: written, new.arguments)
        return db.changesCount
    }

    private func tellInsertion(
        of table: StagingTable, _ alias: String, from rows: String,
        _ arguments: StatementArguments = StatementArguments()
    ) throws {
        let values = table.allColumns.map { "\(alias).\($0.name.sqlIdentifier)" }.joined(separator: ", ")
        try tell(table, .insert, sql: "SELECT \(values) FROM \(rows)", arguments)
    }
}
