import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// Rows that PostgreSQL changes along with a statement's rows: ON DELETE and ON UPDATE of foreign keys.
///
/// These rows are found by the schema before the statement, a whole generation of children at a time. A trigger would
/// be called for each row, and would also see the work of users' own triggers.
extension Merge {
    /// Returns the rows that a deletion deletes or changes, the deleted rows first. Empty where no foreign key takes
    /// any along.
    func rowsTakenAlong(with deleted: ChangedRows) throws -> [ChangedRows] {
        guard deleted.table.referringKeys.contains(where: { $0.onDelete.changesChildren })
        else { return [] }
        var taken = TakenRows(merge: self)
        let start = try taken.rows(of: deleted.table, .delete, columns: [])
        let located = start.located.joined(separator: ", ")
        try connection.execute(
            """
            INSERT INTO \(start.name) (\(located), key) SELECT \(located), key FROM \(deleted.name) ORDER BY id
            ON CONFLICT DO NOTHING
            """)
        try taken.followAll(from: [start])
        return taken.all
    }

    /// Returns the rows that an update changes along with its own.
    ///
    /// - Parameter columns: the columns that are written.
    func rowsTakenAlong(
        withUpdateOf table: TableDetails, columns: [String], _ difference: Difference
    ) throws -> [ChangedRows] {
        let columns = Set(columns.map { $0.lowercased() })
        var taken = TakenRows(merge: self)
        for reference in table.referringKeys where reference.onUpdate.changesChildren {
            let written = reference.targets.filter { columns.contains($0.lowercased()) }
            guard !written.isEmpty, let child = try tables.table(id: reference.child) else { continue }
            let differs = try written.map { try table.needed($0).differs("s", from: "m") }.joined(separator: " OR ")
            let children = try taken.rows(of: child, .update, columns: reference.columns)
            let added = try taken.add(
                to: children, reference, of: table, parent: "m", from: difference.storedRows,
                where: ["NOT d.is_new", "(\(differs))"])
            if added > 0 { try taken.followAll(from: [children]) }
        }
        return taken.all
    }

    /// Counts and journals the rows that a statement has taken along, and notes their tables.
    ///
    /// - Parameter own: the number of the first table's rows that the statement itself has deleted.
    func note(_ taken: [ChangedRows], besides own: Int = 0) throws -> MergeCounts {
        var counts = MergeCounts()
        for (index, rows) in taken.enumerated() where rows.change == .delete {
            let count = try writeJournal(
                rows.table.name, key: "g.key", operation: "delete", from: "\(rows.name) g ORDER BY g.id")
            counts.deleted += count
            if count > (index == 0 ? own : 0) { progress.tablesTakenFrom.insert(rows.table.name) }
        }
        let updated = Dictionary(grouping: taken.filter { $0.change == .update }, by: \.table.sql)
        for (table, all) in updated.sorted(by: { $0.key < $1.key }) {
            let located = all[0].located
            let names = (located + ["key"]).joined(separator: ", ")
            let union = all.map { "SELECT \(names) FROM \($0.name)" }.joined(separator: " UNION ")
            let gone = taken.first { $0.change == .delete && $0.table.sql == table }.map { gone in
                let isSame = located.map { "g.\($0) = u.\($0)" }.joined(separator: " AND ")
                return " WHERE NOT EXISTS (SELECT 1 FROM \(gone.name) g WHERE \(isSame))"
            }
            let name = all[0].table.name
            let count = try writeJournal(
                name, key: "u.key", operation: "update",
                from: "(\(union)) u\(gone ?? "") ORDER BY \(located.map { "u." + $0 }.joined(separator: ", "))")
            counts.updated += count
            if count > 0 { progress.tablesTakenFrom.insert(name) }
        }
        return counts
    }
}
