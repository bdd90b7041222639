import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// Merges the staged rows of a run into the main store's tables, with a few set-wise statements per table, inside the
/// caller's transaction. The rows are in another database on the same connection: the run's scratch file, or memory.
///
/// Deletions come first, from the last table to the first, so that a row which makes room for another does so in time.
/// Then new and different rows are written, from the first table to the last. One pass per table finds them and keeps
/// them in the table `difference`. From there they are written to the store's table and to the journal.
///
/// Values that change from run to run are bound, so that the statements are the same for every stack of the same shape.
struct Merge {
    let db: Database
    let run: Int64
    let stack: StagedStack
    let memory: StagingMemory
    /// The rows that requests mirror, even where they staged none of them this time.
    let mirrors: [MirroredRows]
    /// True if foreign keys are checked once at the end, rather than with each statement.
    var defersForeignKeys = true
    /// Notified of rows that leave the scopes of requests.
    var claims: ClaimWatch?
    /// True if what is replaced is kept in the tables' histories.
    var keepsHistory = false
    /// True if known rows are to become what they were, in their types as well: 1 and 1.0 are equal numbers.
    var restoresTypes = false
    /// Rows that are to be deleted, whatever is staged.
    var removals: [Removal] = []
    /// The staging tables that say which row ids new rows are to have.
    var partsWithPlaces: Set<String> = []
    /// Called with each change before it is made.
    var onChange: ((PlannedChange) throws -> Void)?
    /// What becomes of rows that the feed no longer has.
    var retention = Retention()
    let progress = MergeProgress()

    /// Merges the stack. Its rows are in their staging tables, and stay there.
    func execute() throws -> MergeCounts {
        var counts = MergeCounts()
        if defersForeignKeys { try db.execute(sql: "PRAGMA defer_foreign_keys = ON") }
        try retention.check(stack)
        try noteLastRowIDs()
        let parts = stack.partsByReference
        try checkCircles(parts)
        counts += try skipExpiredRows()
        try prepareCycles(parts)
        let late = stack.tablesIdentifiedLate
        for part in parts where part.counts.rows > 0 && !part.table.references.isEmpty {
            try prepareReferences(part, late: late)
        }
        counts += try deleteMissingRows(late: late)
        let groups = parts.filter { $0.counts.rows > 0 }.groupedByKeys
        for (index, group) in groups.enumerated() {
            do {
                for part in group { try resolveReferences(part, among: parts, late: late) }
                let table = group[0].table.table.name
                if late.contains(table), !groups[(index + 1)...].contains(where: { $0[0].table.table.name == table }) {
                    counts += try deleteMissingRows(ofLate: table)
                }
                counts += try group.count == 1 && group[0].table.isTree ? mergeTree(group[0]) : merge(group)
            } catch let error as DatabaseError where defersForeignKeys || !error.breaksForeignKey {
                throw StoreError(error, in: group[0].table.table.name)
            }
            counts.replaced += group.reduce(0) { $0 + ($1.table.isLookUp ? 0 : $1.counts.replaced) }
        }
        for part in parts where part.counts.rows > 0 { counts += try resolveCycles(part, among: parts) }
        try deletePostponedRows()
        counts += progress.counts
        let changes = progress.changes
        // Rows that the feed has, but that were deleted or changed along with another: they are inserted again, or
        // SQLite says why they cannot be. Appended rows are in the store already, and must not be appended again.
        for group in groups
        where group[0].table.identity != .none
            && progress.tablesTakenFromLate.contains(group[0].table.table.name)
        {
            let again = try merge(group)
            counts.inserted += again.inserted
            counts.updated += again.updated
            counts.unchanged = max(0, counts.unchanged - again.inserted - again.updated)
        }
        // They have been counted before.
        progress.changes = changes
        counts += try deleteExpiredRows()
        try writeHistory()
        for table in progress.tablesToEmpty where stack.path == nil { try db.execute(cached: "DELETE FROM \(table)") }
        return counts
    }

    // MARK: - New and different rows

    /// Merges parts whose rows may share keys.
    private func merge(_ group: [StagedStack.Part]) throws -> MergeCounts {
        try merge(disjoint: group.count == 1 ? group : combined(group))
    }

    /// Merges parts of one table that have no key in common.
    private func merge(disjoint parts: [StagedStack.Part]) throws -> MergeCounts {
        var counts = MergeCounts()
        if parts.count == 1, let all = try insertAll(parts[0]) {
            counts.inserted = all
            progress.changes.add(inserted: all, of: parts[0])
            return counts
        }
        let differences = try parts.enumerated().map { try difference(of: $1, number: $0) }
        if onChange != nil {
            for difference in differences { try tellUpdates(difference) }
        }
        // This is done before rows of any shape step aside.
        for difference in differences where difference.updated > 0 {
            try noteMovedRows(difference.table, from: difference.rows)
            try keep(difference.table.table, from: difference.storedRows + " WHERE NOT d.is_new")
        }
        // A value that one row gives up may be taken by another.
        for index in differences.indices where differences[index].updated > 0 {
            counts += try update(differences[index], of: differences[index...])
        }
        for difference in differences {
            if difference.new > 0 {
                counts.inserted += try insert(
                    difference.part, difference.new, from: difference.rows + " WHERE d.is_new", order: "d.id")
            }
            counts.inserted += difference.takenBack
            counts.unchanged += difference.unchanged
            progress.changes.add(difference.counts, of: difference.part)
            try noteWritten(difference.table, isNew: "d.is_new", from: difference.rows)
        }
        return counts
    }

    /// Inserts every row of a part that need not be compared; returns nil where the rows must be compared.
    private func insertAll(_ part: StagedStack.Part) throws -> Int? {
        let table = part.table
        if case .none = table.identity {
            return try insert(
                part, part.counts.rows, from: "\(table.qualifiedName) s", order: "s.\(StagingTable.row)")
        }
        // For an empty table, a large stack is not compared.
        if stack.path != nil, case .key = table.identity,
            try !Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(table.qualifiedTable))"))!
        {
            try noteWritten(table, isNew: "1", from: "\(table.qualifiedName) s")
            return try insert(part, part.counts.rows, from: "\(table.qualifiedName) s", order: order(of: part))
        }
        return nil
    }

    /// Updates the rows that differ.
    ///
    /// - Parameter remaining: this difference, and those of the same table that are to be updated afterwards.
    private func update(_ difference: Difference, of remaining: ArraySlice<Difference>) throws -> MergeCounts {
        let table = difference.table
        let columns = difference.updatedColumns.map(\.sqlIdentifier)
        let key = table.identityColumns.map(\.sqlIdentifier)
        let rows = difference.rows + " WHERE NOT d.is_new"
        let taken = try rowsTakenAlong(
            withUpdateOf: table.table, columns: difference.updatedColumns, rows: difference.storedRows,
            where: ["NOT d.is_new"])
        for rows in taken { try keep(rows) }
        let tellTaken = try tellTaken(taken)
        let gone = goneColumn(of: table.table.name).map { [$0] } ?? []
        let values = columns.map { "s." + $0 } + gone.map { _ in "NULL" }
        let assignment =
            "SET (\((columns + gone).joined(separator: ", "))) = (SELECT \(values.joined(separator: ", ")) "
        let parksFirst = table.table.hasConflictClause
        // If the key column's collation equates different texts, the journal gets the key as the store has it. It is
        // read before a row id may change.
        let isExact = table.keyCollations.allSatisfy { $0.uppercased() == "BINARY" }
        let lastChange = try db.lastChange()
        for (operation, condition) in difference.operations {
            try writeJournal(
                table.table.name, key: table.journalKey(isExact ? "s" : "m"), operation: operation,
                from: (isExact ? difference.rows : difference.storedRows) + " WHERE \(condition) ORDER BY d.id")
        }
        let statement: String
        if let rowID = table.table.rowID {
            // By row id, and from a table that is keyed by it. Whatever statistics the planner has on the store's
            // table, it need not scan it.
            let changed = try changedRows(difference)
            statement = """
                UPDATE \(table.qualifiedTable) AS m \(assignment)
                    FROM \(changed) c CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = c.row
                    WHERE c.target = m.\(rowID))
                WHERE m.\(rowID) IN (SELECT target FROM \(changed))
                """
        } else {
            // Without row ids, and under the key's own collations, SQLite scans the table.
            statement = """
                UPDATE \(table.qualifiedTable) AS m \(assignment)
                    FROM \(table.qualifiedName) s WHERE \(table.matches("s", "m")))
                WHERE (\(zip(key, table.keyCollations).map { "m.\($0) COLLATE \($1)" }.joined(separator: ", "))) IN (
                    SELECT \(key.map { "s." + $0 }.joined(separator: ", ")) FROM \(rows))
                """
        }
        let updated = try makingRoom(in: table, for: remaining, parksFirst: parksFirst) {
            try deleteReplaced(by: difference.part, from: rows) { try db.execute(cached: statement) }
            try db.execute(cached: statement)
            return db.changesCount
        }
        guard !parksFirst || updated == difference.updated else {
            throw StoreError(
                .constraint,
                "table '\(table.table.name)': a row cannot have its new value in a UNIQUE column, because a row that the "
                    + "feed does not have holds it")
        }
        if updated < difference.updated { try forgetUnwritten(difference, after: lastChange) }
        try noteNewKeys(difference)
        try tellTaken()
        var counts = try note(taken)
        counts.updated += updated - difference.back
        counts.inserted += difference.back
        // Children that were merged before have been changed along with their parents. They are merged again.
        for rows in taken {
            let statement = try db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM \(rows.name))")
            if try Bool.fetchOne(statement) == true { progress.tablesTakenFromLate.insert(rows.table.name) }
        }
        return counts
    }
}
