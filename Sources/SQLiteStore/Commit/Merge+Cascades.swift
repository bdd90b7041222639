import FeedModel
import FeedStaging
import GRDB

/// Rows that SQLite changes along with a statement's rows: ON DELETE and ON UPDATE of foreign keys.
///
/// These rows are found by the schema before the statement, a whole generation of children at a time. The comparison is
/// the one by which SQLite finds them: the parent's column stands on the left, so that its affinity and collation
/// decide. A trigger or a hook would be called for each row, and would also see the work of users' own triggers. A
/// trigger made for a commit would also cause every prepared statement to be prepared anew.
extension Merge {
    /// Returns the rows that a deletion deletes or changes, the deleted rows first. Empty where no foreign key takes
    /// any along.
    func rowsTakenAlong(with deleted: ChangedRows) throws -> [ChangedRows] {
        let graph = try memory.foreignKeys(db)
        guard graph.references(to: deleted.table.name).contains(where: { $0.onDelete?.changesChildren == true })
        else { return [] }
        var taken = TakenRows(merge: self, graph: graph)
        let start = try taken.rows(of: deleted.table, .delete, columns: [])
        try db.execute(
            cached: """
                INSERT OR IGNORE INTO \(start.name) SELECT \(start.located.joined(separator: ", ")), key
                FROM \(deleted.name) ORDER BY rowid
                """)
        try taken.followAll(from: [start])
        return taken.all
    }

    /// Deletes the youngest of many generations, because SQLite follows only a thousand (limits.html,
    /// "SQLITE_MAX_TRIGGER_DEPTH").
    ///
    /// - Parameter taken: all rows that a deletion takes along.
    func deleteYoungest(of taken: [ChangedRows]) throws {
        let graph = try memory.foreignKeys(db)
        var generations = TakenRows(merge: self, graph: graph, name: "generation")
        let deleted = taken.filter { $0.change == .delete }
        for rows in deleted {
            let oldest = try generations.rows(of: rows.table, .delete, columns: [])
            // Rows none of whose parents are deleted, too.
            let parents = deleted.flatMap { parents in
                graph.references(to: parents.table.name).filter {
                    $0.child.name == rows.table.name && $0.onDelete == .cascade
                }.map { reference in
                    let isParent = zip(reference.targets, reference.columns).map {
                        "p.\($0.sqlIdentifier) = c.\($1.sqlIdentifier)"
                    }
                    return """
                        NOT EXISTS (
                            SELECT 1 FROM main.\(parents.table.name.sqlIdentifier) p CROSS JOIN \(parents.name) h
                                ON \(parents.isRow("p", "h")) WHERE \(isParent.joinedConditions("AND")))
                        """
                }
            }
            let located = rows.located.map { "g." + $0 }.joined(separator: ", ")
            try db.execute(
                cached: """
                    INSERT INTO \(oldest.name) SELECT \(located), g.key FROM \(rows.name) g
                    CROSS JOIN main.\(rows.table.name.sqlIdentifier) c ON \(rows.isRow("c", "g"))\(parents.whereClause)
                    """)
        }
        try generations.followAll(from: generations.all)
        try generations.deleteYoungest()
    }

    /// Returns the rows that an update changes along with its own.
    ///
    /// - Parameters:
    ///   - columns: the columns that are written.
    ///   - rows: the rows that are updated: the staged ones as `s`, beside the store's as `m`.
    func rowsTakenAlong(
        withUpdateOf table: TableInfo, columns: [String], rows: String, where conditions: [String]
    ) throws -> [ChangedRows] {
        let columns = Set(columns.map { $0.lowercased() })
        let graph = try memory.foreignKeys(db)
        // A deletion that makes room for the update uses tables of its own.
        var taken = TakenRows(merge: self, graph: graph, name: "followed")
        for reference in graph.references(to: table.name) where reference.onUpdate?.changesChildren == true {
            let written = reference.targets.filter { columns.contains($0.lowercased()) }.map(\.sqlIdentifier)
            guard !written.isEmpty else { continue }
            let differs = written.map { "s.\($0) IS NOT m.\($0) COLLATE BINARY" }.joinedConditions("OR")
            let children = try taken.rows(of: reference.child, .update, columns: reference.columns)
            try taken.add(to: children, reference, parent: "m", from: rows, where: conditions + ["(\(differs))"])
            if db.changesCount > 0 { try taken.followAll(from: [children]) }
        }
        return taken.all
    }

    /// Counts and journals the rows that a statement has taken along, and notes their tables.
    ///
    /// - Parameters:
    ///   - own: the number of the first table's rows that the statement itself has deleted.
    ///   - isWhole: false where a trigger has kept some of them.
    func note(_ taken: [ChangedRows], besides own: Int = 0, isWhole: Bool = true) throws -> MergeCounts {
        var counts = MergeCounts()
        for (index, rows) in taken.enumerated() where rows.change == .delete {
            let isGone = isWhole ? "" : self.isGone(rows)
            let count = try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM \(rows.name) g\(isGone)")) ?? 0
            counts.deleted += count
            if count > (index == 0 ? own : 0) { progress.tablesTakenFrom.insert(rows.table.name) }
            try writeJournal(
                rows.table.name, key: "g.key", operation: "delete", from: "\(rows.name) g\(isGone) ORDER BY g.rowid")
        }
        for (table, all) in Dictionary(grouping: taken.filter { $0.change == .update }, by: \.table.name).sorted(
            by: { $0.key < $1.key })
        {
            let located = all[0].located
            let names = (located + ["key"]).joined(separator: ", ")
            let union = all.map { "SELECT \(names) FROM \($0.name)" }.joined(separator: " UNION ")
            let gone = taken.first { $0.change == .delete && $0.table.name == table }.map { gone in
                let isSame = located.map { "g.\($0) = u.\($0)" }.joinedConditions("AND")
                return " WHERE NOT EXISTS (SELECT 1 FROM \(gone.name) g WHERE \(isSame))"
            }
            try writeJournal(table, key: "u.key", operation: "update", from: "(\(union)) u\(gone ?? "")")
            counts.updated += db.changesCount
            if db.changesCount > 0 { progress.tablesTakenFrom.insert(table) }
        }
        return counts
    }
}

/// The children of the rows that one statement changes, and all further generations.
private struct TakenRows {
    let merge: Merge
    let graph: ForeignKeyGraph
    private(set) var all: [ChangedRows] = []
    /// The number of rows found in each table, noted after every `generationsAtOnce` generations.
    private var milestones: [[String: Int64]] = []
    private static let generationsAtOnce = 400

    private let name: String

    /// - Parameter name: the prefix of the names of the merge's tables.
    init(merge: Merge, graph: ForeignKeyGraph, name: String = "taken") {
        self.name = name
        self.merge = merge
        self.graph = graph
    }

    /// Returns the table for rows that are changed in one way. It holds each row once.
    mutating func rows(of table: TableInfo, _ change: ChangedRows.Change, columns: [String]) throws -> ChangedRows {
        if let known = all.first(where: { $0.table.name == table.name && $0.change == change && $0.columns == columns })
        {
            return known
        }
        let located = ChangedRows.located(table).joined(separator: ", ")
        let new = ChangedRows(
            table: table, change: change, columns: columns,
            name: try merge.workTable(
                "\(self.name)_\(table.locator.count)_\(all.count)", "\(located), key, PRIMARY KEY (\(located))"))
        all.append(new)
        return new
    }

    /// Adds the children of the rows in `rows` with the alias `parent`, in the order of those rows.
    func add(
        to children: ChangedRows, _ reference: ForeignKeyGraph.Reference, parent: String, from rows: String,
        where conditions: [String], _ arguments: StatementArguments = []
    ) throws {
        let isChild = zip(reference.targets, reference.columns).map {
            "\(parent).\($0.sqlIdentifier) = c.\($1.sqlIdentifier)"
        }
        let locator = children.table.locator.map { "c." + $0 }.joined(separator: ", ")
        try merge.db.execute(
            cached: """
                INSERT OR IGNORE INTO \(children.name)
                SELECT \(locator), \(children.table.journalKey("c", among: merge.stack))
                FROM \(rows) CROSS JOIN main.\(children.table.name.sqlIdentifier) c
                    ON \(isChild.joinedConditions("AND"))\(conditions.whereClause)
                """, arguments)
    }

    /// Adds their children, and further generations until there are no more.
    mutating func followAll(from start: [ChangedRows]) throws {
        var frontier = start
        var followed: [String: Int64] = [:]
        var generation = 0
        while !frontier.isEmpty {
            generation += 1
            if generation % Self.generationsAtOnce == 0 { milestones.append(followed) }
            var next: [ChangedRows] = []
            for rows in frontier {
                let first = followed[rows.name] ?? 0
                let last =
                    try Int64.fetchOne(merge.db.cachedStatement(sql: "SELECT max(rowid) FROM \(rows.name)")) ?? 0
                followed[rows.name] = last
                for reference in graph.references(to: rows.table.name) {
                    guard let action = rows.change == .delete ? reference.onDelete : reference.onUpdate,
                        action.changesChildren,
                        rows.change == .delete || rows.updatesOne(of: reference.targets)
                    else { continue }
                    let isDeletion = rows.change == .delete && action == .cascade
                    let children = try self.rows(
                        of: reference.child, isDeletion ? .delete : .update,
                        columns: isDeletion ? [] : reference.columns)
                    let parents =
                        "\(rows.name) g CROSS JOIN main.\(rows.table.name.sqlIdentifier) p ON \(rows.isRow("p", "g"))"
                    try add(
                        to: children, reference, parent: "p", from: parents,
                        where: ["g.rowid > ?", "g.rowid <= ?"], [first, last])
                    if merge.db.changesCount > 0, !next.contains(where: { $0.name == children.name }) {
                        next.append(children)
                    }
                }
            }
            frontier = next
        }
    }

    func deleteYoungest() throws {
        for milestone in milestones.reversed() {
            for rows in all where rows.change == .delete {
                try merge.db.execute(
                    cached: """
                        DELETE FROM main.\(rows.table.name.sqlIdentifier)
                        WHERE (\(rows.table.locator.joined(separator: ", "))) IN (
                            SELECT \(rows.located.joined(separator: ", ")) FROM \(rows.name) WHERE rowid > ?)
                        """, [milestone[rows.name] ?? 0])
            }
        }
    }
}

extension ChangedRows {
    fileprivate func updatesOne(of targets: [String]) -> Bool {
        let columns = Set(columns.map { $0.lowercased() })
        return targets.contains { columns.contains($0.lowercased()) }
    }
}
