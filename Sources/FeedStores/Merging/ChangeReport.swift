package import FeedModel
package import FeedStaging

/// The report of the changes that a merge is about to make, row by row as they come from the database.
package struct ChangeReport {
    private let merge: MergeContext

    package init(merge: MergeContext) { self.merge = merge }

    /// Reports rows of a query for the columns that the merge writes, in their order.
    ///
    /// - Parameter resolved: the columns whose values the merge finds in other rows.
    package func report(
        _ table: String, _ operation: PlannedChange.Operation, _ columns: [StoredTable.Column], key: [String],
        _ query: SQLText, resolved: Set<String> = []
    ) throws {
        guard let onChange = merge.onChange else { return }
        try merge.driver.forEachRow(of: query.once) { row in
            try onChange(
                PlannedChange(
                    table: table, operation: operation, row: values(of: columns, row, from: 0), key: key,
                    resolved: resolved))
            return true
        }
    }

    /// Reports staged rows, `s`, that are about to be inserted.
    ///
    /// - Parameter rows: the FROM clause, with an order.
    package func insertion(of staged: StagingTable, into table: StoredTable, from rows: String, alias: String = "s")
        throws
    {
        guard merge.onChange != nil else { return }
        let columns = try staged.allColumns.map { try table.needed($0.name) }
        try report(
            table.name, .insert, columns, key: staged.keyColumns, "SELECT \(columns.list(alias)) FROM \(rows)",
            resolved: Set(staged.references.map { $0.column.name.lowercased() }))
    }

    func updates(of difference: Difference) throws {
        guard merge.onChange != nil, difference.updated > 0 else { return }
        let staged = difference.table
        if difference.restored > 0 {
            try insertion(
                of: staged, into: difference.stored,
                from: "\(difference.rows(merge.dialect)) WHERE d.is_restored ORDER BY d.id")
        }
        let columns = try writtenColumns(of: staged, difference.stored)
        let rows = "\(difference.storedRows(merge.dialect)) WHERE NOT d.is_new AND NOT d.is_restored"
        try updates(
            of: difference.stored.name, columns, key: staged.keyColumns,
            before: "SELECT d.id, 1, \(columns.list("m")) FROM \(rows)",
            after: "SELECT d.id, 0, \(columns.list("s")) FROM \(rows)")
    }

    /// Returns the columns of a staged table's rows that are reported.
    func writtenColumns(of staged: StagingTable, _ table: StoredTable) throws -> [StoredTable.Column] {
        try (staged.identityColumns + staged.valueColumns).map { try table.needed($0) }
    }

    /// Reports rows before they are deleted, and notes rows that are updated along with them.
    ///
    /// - Parameter reported: rows that have already been reported.
    /// - Returns: a closure that reports the updated rows after the update.
    func deletions(_ lists: [RowList], except reported: RowList? = nil) throws -> () throws -> Void {
        guard merge.onChange != nil else { return {} }
        var updated: [(rows: RowList, before: String, after: String)] = []
        for (index, rows) in lists.enumerated() {
            let table = rows.table
            let found = rows.stored(merge.dialect)
            if rows.change == .delete {
                let isNew = reported.flatMap { $0.table.id == table.id ? " WHERE \(rows.isNotIn($0))" : nil }
                try report(
                    table.name, .delete, table.columns, key: table.primaryKey,
                    "SELECT \(table.columns.list("m")) FROM \(found)\(isNew ?? "") ORDER BY g.id")
                continue
            }
            // Rows that are also deleted are reported once.
            let deleted = lists.first { $0.change == .delete && $0.table.id == table.id }
            let isThere = deleted.map { " WHERE \(rows.isNotIn($0))" } ?? ""
            func select(_ isBefore: Int) -> String {
                let names = table.columns.enumerated().map { "m.\($1.sql) AS c\($0)" }.joined(separator: ", ")
                return "SELECT g.id AS id, \(isBefore) AS is_before, \(names) FROM \(found)\(isThere)"
            }
            let before = try merge.driver.makeTable("before_\(index)", of: select(1))
            updated.append((rows, "SELECT * FROM \(before)", select(0)))
        }
        return { [updated] in
            for (rows, before, after) in updated {
                try updates(
                    of: rows.table.name, rows.table.columns, key: rows.table.primaryKey, before: before,
                    after: after)
            }
        }
    }

    /// Reports updates by two queries for a number, 1 for the old and 0 for the new row, and the columns.
    ///
    /// The old and the new row come one after the other: side by side, a wide table would exceed a database's limit
    /// on columns.
    func updates(
        of table: String, _ columns: [StoredTable.Column], key: [String], before: String, after: String
    ) throws {
        guard let onChange = merge.onChange else { return }
        var old: PlannedChange.Values?
        var spellings: [String?] = []
        // A row whose key was updated along is not found again.
        func reportOld() throws {
            guard let values = old else { return }
            old = nil
            try onChange(PlannedChange(table: table, operation: .update(old: values), row: values, key: key))
        }
        try merge.driver.forEachRow(of: SQLText("\(before) UNION ALL \(after) ORDER BY 1, 2 DESC").once) { row in
            var values = try values(of: columns, row, from: 2)
            // A merge that restores rows also restores how their values were spelt.
            let spelt =
                merge.driver.isExact ? columns.enumerated().map { merge.dialect.spelling(of: $1, row, 2 + $0) } : []
            if try row.int64(1) == 1 {
                try reportOld()
                old = values
                spellings = spelt
            } else if var former = old {
                old = nil
                for (index, (before, after)) in zip(spellings, spelt).enumerated() where before != after {
                    guard let before, let after, former[index].value == values[index].value else { continue }
                    former[index].value = .text(before)
                    values[index].value = .text(after)
                }
                try onChange(PlannedChange(table: table, operation: .update(old: former), row: values, key: key))
            }
            return true
        }
        try reportOld()
    }

    private func values(
        of columns: [StoredTable.Column], _ row: any SQLRow, from first: Int
    ) throws -> PlannedChange.Values {
        try columns.enumerated().map { ($1.name, try merge.dialect.value(of: $1, row, first + $0)) }
    }
}
