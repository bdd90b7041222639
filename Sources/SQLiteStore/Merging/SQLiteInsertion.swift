import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// New rows. The rows that the table has afterwards are reported and written to the changelog: a trigger may drop some.
extension SQLiteMergeDriver {
    func insert(_ rows: Insertion, in merge: MergeContext) throws -> Int {
        let table = rows.part.table
        var names = table.allColumns.map(\.name.sqlIdentifier)
        var values = names.map { "s." + $0 }
        if partsWithPlaces.contains(table.name), let rowID = table.table.rowID {
            names.append(rowID)
            values.append("s." + StagingTable.place)
        }
        var arguments = StatementArguments()
        if let freed = try freedRowID(of: table, count: rows.count), let rowID = table.table.rowID {
            names.append(rowID)
            values.append("? + row_number() OVER (ORDER BY \(rows.order))")
            arguments = [freed]
        }
        let insertion = """
            INSERT INTO \(table.qualifiedTable) (\(names.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM \(rows.ordered)
            """
        let conflicts = UniqueConflicts(merge, in: table, of: rows.table)
        func write() throws -> Int {
            let execute = { try self.execute(insertion, arguments, of: rows.count, into: rows.part) }
            guard let images = beforeImages else { return try execute() }
            return try noting(rows, images, execute)
        }
        guard case .key = table.identity else { return try insert(rows, conflicts, in: merge, write) }
        let inserted = try conflicts.resolving(write)
        var written = rows.ordered
        if inserted != rows.count {
            let isThere = "EXISTS (SELECT 1 FROM \(table.qualifiedTable) m WHERE \(table.matches("m", "s")))"
            written = "(SELECT s.* FROM \(rows.ordered)) s WHERE \(isThere)"
        }
        try ChangeReport(merge: merge).insertion(of: table, into: rows.table, from: written)
        return try merge.log("insert", rows.table.name, key: table.changelogKey("s"), from: SQLText(written))
    }

    /// Runs an insertion, and notes its rows for the history.
    private func noting(_ rows: Insertion, _ images: BeforeImages, _ insertion: () throws -> Int) throws -> Int {
        let table = rows.part.table
        let info = table.table
        var located = (info.generatedKey.map { [$0] } ?? info.primaryKey).map { "s." + $0.sqlIdentifier }
        var source = SQLText(rows.ordered)
        if let rowID = info.rowID, partsWithPlaces.contains(table.name) {
            located = ["(SELECT m.\(rowID) FROM \(table.qualifiedTable) m WHERE \(table.matches("m", "s")))"]
        } else if let rowID = info.rowID, info.generatedKey.map({ !table.supplies($0) }) ?? true {
            located = ["m.\(rowID)"]
            let isNew = try newRows(of: table, rowID: rowID, number: 1)
            source = "\(table.qualifiedTable) m WHERE \(isNew) ORDER BY m.\(rowID)"
        }
        let inserted = try insertion()
        try execute(images.noting(rows.table, located.joined(separator: ", "), from: source))
        return inserted
    }

    /// Inserts rows that only their row ids distinguish.
    private func insert(
        _ rows: Insertion, _ conflicts: UniqueConflicts, in merge: MergeContext, _ write: () throws -> Int
    ) throws -> Int {
        let rowID = rows.table.rowID ?? "rowid"
        let (new, inserted) = try conflicts.resolving {
            (try newRows(of: rows.part.table, rowID: rowID), try write())
        }
        let written: SQLText = "\(rows.table.sql) m WHERE \(new) ORDER BY m.\(rowID)"
        let report = ChangeReport(merge: merge)
        if inserted == rows.count {
            try report.insertion(of: rows.part.table, into: rows.table, from: rows.ordered)
        } else if merge.onChange != nil {
            let columns = try rows.part.table.allColumns.map { try rows.table.needed($0.name) }
            try report.report(
                rows.table.name, .insert, columns, key: [], "SELECT \(columns.list("m")) FROM \(written)")
        }
        return try merge.log("insert", rows.table.name, key: "m.\(rowID)", from: written)
    }

    // MARK: - Row ids

    /// Returns a condition that a row of the table, `m`, belongs to the next insertion.
    ///
    /// - Parameter number: distinguishes two simultaneous insertions.
    func newRows(of table: StagingTable, rowID: String, number: Int = 0) throws -> SQLText {
        let last = try db.int64("SELECT max(\(rowID)) FROM \(table.qualifiedTable)")
        // Row ids that SQLite gives are above all others, until the largest is taken: then they are any that are free
        // (autoinc.html).
        guard last == .max else { return "m.\(rowID) > \(bind: last ?? 0)" }
        let known = try makeTable("known_\(number)", "id INTEGER PRIMARY KEY")
        try db.execute(sql: "INSERT INTO \(known) SELECT \(rowID) FROM \(table.qualifiedTable)")
        return "m.\(rowID) NOT IN (SELECT id FROM \(known))"
    }

    /// Notes the largest row id before the commit, for each table whose new rows get one from SQLite.
    func noteLastRowIDs() throws {
        for part in stack.parts where part.counts.rows > 0 {
            let table = part.table
            guard let key = table.table.generatedKey, !table.supplies(key), let rowID = table.table.rowID else {
                continue
            }
            lastRowIDs[StoredTable.id(table.table.name)] = try db.int64(
                "SELECT max(\(rowID)) FROM \(table.qualifiedTable)")
        }
    }

    /// Returns the row id above which the next insertion's row ids are to lie, because this commit has deleted the
    /// rows with the largest ones. SQLite would give their row ids to the new rows, and whatever refers to a deleted
    /// row would refer to a new one. Nil if SQLite's own row ids are above all that were there.
    ///
    /// - Parameter count: the number of rows to insert.
    private func freedRowID(of table: StagingTable, count: Int) throws -> Int64? {
        guard !partsWithPlaces.contains(table.name), let former = lastRowIDs[StoredTable.id(table.table.name)],
            let rowID = table.table.rowID, let key = table.table.generatedKey, !table.supplies(key),
            former <= .max - Int64(count)
        else { return nil }
        let last = try db.int64("SELECT max(\(rowID)) FROM \(table.qualifiedTable)")
        guard last ?? .min < former, try !hasSequence(table.table) else { return nil }
        return former
    }

    /// Returns true for a table under AUTOINCREMENT, which never gives a row id twice (autoinc.html).
    private func hasSequence(_ table: StoredTable) throws -> Bool {
        guard try db.isTrue("SELECT EXISTS (SELECT 1 FROM main.sqlite_schema WHERE name = 'sqlite_sequence')")
        else { return false }
        return try db.isTrue(
            "SELECT EXISTS (SELECT 1 FROM main.sqlite_sequence WHERE lower(name) = lower(\(bind: table.name)))")
    }
}

extension Insertion {
    /// The FROM clause with its order.
    var ordered: String { "\(rows) ORDER BY \(order)" }
}
