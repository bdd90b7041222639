import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// The children of the rows that one statement changes, and all further generations.
struct TakenRows {
    let merge: Merge
    private(set) var all: [ChangedRows] = []

    init(merge: Merge) { self.merge = merge }

    /// Returns the table for rows that are changed in one way. It holds each row once.
    mutating func rows(
        of table: TableDetails, _ change: ChangedRows.Change, columns: [String]
    ) throws -> ChangedRows {
        let known = all.first { $0.table.sql == table.sql && $0.change == change && $0.columns == columns }
        if let known { return known }
        let new = ChangedRows(
            table: table, change: change, columns: columns,
            name: try merge.workTable(
                "taken_\(merge.progress.number())", ChangedRows.definition(table, isUnique: true)))
        all.append(new)
        return new
    }

    /// Adds the children of the rows of a table, which are in `rows` with the alias `parent`.
    ///
    /// - Returns: the number of rows that were not known.
    func add(
        to children: ChangedRows, _ reference: ForeignKey, of table: TableDetails, parent: String, from rows: String,
        where conditions: [String]
    ) throws -> Int {
        let isChild = try zip(reference.targets, reference.columns).map { target, column in
            let target = try table.needed(target)
            return "\(parent).\(target.sql) = \(try children.table.needed(column).value("c", comparedWith: target))"
        }
        let locator = children.table.locator.map { "c." + $0.sql }.joined(separator: ", ")
        return try merge.connection.execute(
            """
            INSERT INTO \(children.name) (\(children.located.joined(separator: ", ")), key)
            SELECT \(locator), \(merge.journalKey(of: children.table, "c"))
            FROM \(rows) JOIN \(children.table.sql) c ON \(isChild.joined(separator: " AND "))\(conditions.whereClause)
            ON CONFLICT DO NOTHING
            """
        ).affectedRows
    }

    /// Adds their children, and further generations until there are no more.
    mutating func followAll(from start: [ChangedRows]) throws {
        var frontier = start
        var followed: [String: Int64] = [:]
        while !frontier.isEmpty {
            var next: [ChangedRows] = []
            for rows in frontier {
                let first = followed[rows.name] ?? 0
                let last =
                    try merge.connection.execute("SELECT coalesce(max(id), 0) FROM \(rows.name)")[0].int64(0) ?? 0
                followed[rows.name] = last
                for reference in rows.table.referringKeys {
                    let action = rows.change == .delete ? reference.onDelete : reference.onUpdate
                    guard action.changesChildren, rows.change == .delete || rows.updatesOne(of: reference.targets),
                        let child = try merge.tables.table(id: reference.child)
                    else { continue }
                    let isDeletion = rows.change == .delete && action == .cascade
                    let children = try self.rows(
                        of: child, isDeletion ? .delete : .update, columns: isDeletion ? [] : reference.columns)
                    let parents = "\(rows.name) g JOIN \(rows.table.sql) p ON \(rows.isRow("p", "g"))"
                    let added = try add(
                        to: children, reference, of: rows.table, parent: "p", from: parents,
                        where: ["g.id > \(first)", "g.id <= \(last)"])
                    if added > 0, !next.contains(where: { $0.name == children.name }) { next.append(children) }
                }
            }
            frontier = next
        }
    }
}

extension ChangedRows {
    fileprivate func updatesOne(of targets: [String]) -> Bool {
        let columns = Set(columns.map { $0.lowercased() })
        return targets.contains { columns.contains($0.lowercased()) }
    }
}
