import FeedModel
package import FeedStaging

/// The rows that the database changes along with a statement's rows: ON DELETE and ON UPDATE of foreign keys.
///
/// They are found by the schema before the statement, a whole generation of children at a time. A trigger would be called
/// for each row, and would also see the work of users' own triggers.
struct Cascades {
    let merge: MergeContext

    /// Returns the rows that a deletion deletes or changes, the deleted rows first. Empty if no foreign key changes
    /// any along.
    func rows(deletedWith deleted: RowList) throws -> [RowList] {
        guard deleted.table.children.contains(where: { $0.onDelete.changesChildren }) else { return [] }
        var rows = CascadedRows(merge: merge, name: "cascaded")
        let start = try rows.list(of: deleted.table, .delete, columns: [])
        try merge.driver.execute(merge.dialect.append(deleted, to: start))
        try rows.followAll(from: [start])
        return rows.all
    }

    /// Returns the rows that an update changes along with its own.
    func rows(updatedWith difference: Difference) throws -> [RowList] {
        let table = difference.stored
        let columns = Set(difference.updatedColumns.map { $0.lowercased() })
        // A deletion that makes room for the update uses tables of its own.
        var rows = CascadedRows(merge: merge, name: "followed")
        for key in table.children where key.onUpdate.changesChildren {
            let written = key.targets.filter { columns.contains($0.lowercased()) }
            guard !written.isEmpty, let child = try merge.driver.table(id: key.child) else { continue }
            let differs = try written.map {
                let column = try table.needed($0)
                return merge.dialect.differs(column, "s.\(column.sql)", from: "m.\(column.sql)", exactly: false)
            }
            let children = try rows.list(of: child, .update, columns: key.columns)
            let added = try rows.add(
                to: children, key, of: table, parent: "m", from: difference.storedRows(merge.dialect),
                where: ["NOT d.is_new", "(\(differs.joinedConditions("OR")))"])
            if added > 0 { try rows.followAll(from: [children]) }
        }
        return rows.all
    }

    /// Counts rows that a statement has changed along, writes them to the changelog, and notes their tables.
    ///
    /// - Parameters:
    ///   - own: the number of the first table's rows that the statement itself has deleted.
    ///   - isWhole: false if a trigger has kept some of them.
    func log(_ cascaded: [RowList], adding own: Int = 0, isWhole: Bool = true) throws -> MergeCounts {
        var counts = MergeCounts()
        for (index, rows) in cascaded.enumerated() where rows.change == .delete {
            let count = try merge.log(
                "delete", rows.table.name, key: "g.key", from: merge.deleted(rows, isWhole: isWhole))
            counts.deleted += count
            if count > (index == 0 ? own : 0) { merge.state.cascadedTables.insert(rows.table.name) }
        }
        let updated = Dictionary(grouping: cascaded.filter { $0.change == .update }, by: \.table.id)
        for (table, lists) in updated.sorted(by: { $0.key < $1.key }) {
            let located = lists[0].located
            let names = (located + ["key"]).joined(separator: ", ")
            let union = lists.map { "SELECT \(names) FROM \($0.name)" }.joined(separator: " UNION ")
            let deleted = cascaded.first { $0.change == .delete && $0.table.id == table }
            let isThere = deleted.map { " WHERE \(lists[0].isNotIn($0))" } ?? ""
            let order = located.map { "g." + $0 }.joined(separator: ", ")
            let count = try merge.log(
                "update", lists[0].table.name, key: "g.key", from: "(\(union)) g\(isThere) ORDER BY \(order)")
            counts.updated += count
            if count > 0 { merge.state.cascadedTables.insert(lists[0].table.name) }
        }
        return counts
    }
}

/// The children of the rows that one statement changes, and all further generations.
package struct CascadedRows {
    package let merge: MergeContext
    package private(set) var all: [RowList] = []
    /// The number of rows found in each list, noted after every ``generationsAtOnce`` generations.
    package private(set) var milestones: [[String: Int64]] = []
    private static let generationsAtOnce = 400
    private let name: String

    /// - Parameter name: the prefix of the lists' names.
    package init(merge: MergeContext, name: String) {
        self.merge = merge
        self.name = name
    }

    /// Returns the list of rows that are changed in one way. It holds each row once.
    package mutating func list(of table: StoredTable, _ change: RowList.Change, columns: [String]) throws -> RowList {
        let known = all.first { $0.table.id == table.id && $0.change == change && $0.columns == columns }
        if let known { return known }
        let new = try merge.makeList("\(name)_\(all.count)", of: table, change, columns: columns)
        all.append(new)
        return new
    }

    /// Adds the children of the rows of a table, which are in `rows` with the alias `parent`.
    ///
    /// - Returns: the number of rows that were not listed.
    func add(
        to children: RowList, _ key: StoredTable.ForeignKey, of table: StoredTable, parent: String, from rows: String,
        where conditions: [SQLText]
    ) throws -> Int {
        let isChild = try zip(key.targets, key.columns).map { target, column in
            let target = try table.needed(target)
            // The parent's column stands on the left, so that its affinity and collation decide, as in a foreign key.
            let value = try merge.dialect.value(of: children.table.needed(column), "c", comparedWith: target)
            return "\(parent).\(target.sql) = \(value)"
        }.joinedConditions("AND")
        return try merge.append(
            to: children,
            from: "\(rows) \(merge.dialect.join) \(children.table.sql) c ON \(isChild)\(conditions.whereClause)",
            alias: "c")
    }

    /// Adds their children, and further generations.
    package mutating func followAll(from start: [RowList]) throws {
        var frontier = start
        var followed: [String: Int64] = [:]
        var generation = 0
        while !frontier.isEmpty {
            generation += 1
            if generation % Self.generationsAtOnce == 0 { milestones.append(followed) }
            var next: [RowList] = []
            for rows in frontier {
                let first = followed[rows.name] ?? 0
                let last = try merge.driver.int64("SELECT max(id) FROM \(rows.name)") ?? 0
                followed[rows.name] = last
                for key in rows.table.children {
                    let action = rows.change == .delete ? key.onDelete : key.onUpdate
                    guard action.changesChildren, rows.change == .delete || rows.updatesOne(of: key.targets),
                        let child = try merge.driver.table(id: key.child)
                    else { continue }
                    let isDeletion = rows.change == .delete && action == .cascade
                    let children = try list(
                        of: child, isDeletion ? .delete : .update, columns: isDeletion ? [] : key.columns)
                    let parents =
                        "\(rows.name) g \(merge.dialect.join) \(rows.table.sql) p ON \(rows.isRow("p", "g"))"
                    let added = try add(
                        to: children, key, of: rows.table, parent: "p", from: parents,
                        where: ["g.id > \(bind: first)", "g.id <= \(bind: last)"])
                    if added > 0, !next.contains(where: { $0.name == children.name }) { next.append(children) }
                }
            }
            frontier = next
        }
    }
}

extension RowList {
    fileprivate func updatesOne(of targets: [String]) -> Bool {
        let columns = Set(columns.map { $0.lowercased() })
        return targets.contains { columns.contains($0.lowercased()) }
    }
}
