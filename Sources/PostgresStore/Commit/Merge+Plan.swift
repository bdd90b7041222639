import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// Reports the changes that a merge is about to make, row by row as they come from the server.
extension Merge {
    /// - Parameter sql: a query for the columns that the merge writes, in their order.
    func tell(_ table: StagingTable, _ operation: PlannedChange.Operation, sql: String) throws {
        guard onChange != nil else { return }
        let details = try details(of: table.table.name)
        let columns = try table.allColumns.map { try details.needed($0.name) }
        try tell(table.table.name, operation, columns, key: table.keyColumns, sql: sql)
    }

    func tellUpdates(_ difference: Difference) throws {
        guard onChange != nil else { return }
        let table = difference.table
        if difference.back > 0 {
            let values = table.allColumns.map { "s." + $0.name.sqlIdentifier }.joined(separator: ", ")
            try tell(table, .insert, sql: "SELECT \(values) FROM \(difference.rows) WHERE d.is_back ORDER BY d.id")
        }
        let columns = try writtenColumns(of: table)
        let rows = "\(difference.storedRows) WHERE NOT d.is_new AND NOT d.is_back"
        try tellUpdates(
            table.table.name, columns, key: table.keyColumns,
            before: "SELECT d.id, true, \(columns.list("m")) FROM \(rows)",
            after: "SELECT d.id, false, \(columns.list("s")) FROM \(rows)")
    }

    /// Returns the columns of a staged table's rows that are reported.
    func writtenColumns(of table: StagingTable) throws -> [ColumnDetails] {
        let details = try details(of: table.table.name)
        return try (table.identityColumns + table.valueColumns).map { try details.needed($0) }
    }

    /// Reports rows that are about to be deleted, and notes those that will be updated along with them.
    ///
    /// - Parameter told: the rows that have been reported already.
    /// - Returns: a closure that reports the updated rows once they have been updated.
    func tellTaken(_ taken: [ChangedRows], besides told: ChangedRows? = nil) throws -> () throws -> Void {
        guard onChange != nil else { return {} }
        var updated: [(rows: ChangedRows, before: String, after: String)] = []
        for (index, rows) in taken.enumerated() {
            let table = rows.table
            let found = "\(rows.name) g JOIN \(table.sql) m ON \(rows.isRow("m", "g"))"
            if rows.change == .delete {
                let others = told.flatMap { $0.table.sql == table.sql ? rows.isNone(of: $0) : nil }
                try tell(
                    table.name, .delete, table.columns, key: table.primaryKey,
                    sql: "SELECT \(table.columns.list("m")) FROM \(found)\(others ?? "") ORDER BY g.id")
                continue
            }
            // Rows that are also deleted are reported once.
            let gone = taken.first { $0.change == .delete && $0.table.sql == table.sql }.map(rows.isNone)
            func select(_ isBefore: Bool) -> String {
                "SELECT g.id, \(isBefore), \(table.columns.list("m")) FROM \(found)\(gone ?? "")"
            }
            let before = nameOfWorkTable("before_\(index)")
            let names = (0..<table.columns.count + 2).map { "c\($0)" }.joined(separator: ", ")
            try connection.executeScript(
                """
                DROP TABLE IF EXISTS \(before);
                CREATE TEMP TABLE \(before) (\(names)) ON COMMIT DROP AS \(select(true))
                """)
            updated.append((rows, "SELECT * FROM \(before)", select(false)))
        }
        return { [updated] in
            for (rows, before, after) in updated {
                try tellUpdates(
                    rows.table.name, rows.table.columns, key: rows.table.primaryKey, before: before, after: after)
            }
        }
    }

    private func tell(
        _ table: String, _ operation: PlannedChange.Operation, _ columns: [ColumnDetails], key: [String], sql: String
    ) throws {
        guard let onChange else { return }
        try connection.forEachRow(of: sql) { row in
            try onChange(
                PlannedChange(
                    table: table, operation: operation, row: Self.values(of: columns, row, from: 0), key: key))
            return .next
        }
    }

    /// Reports updates by two queries for a number, whether the row is the old one, and the columns.
    ///
    /// The rows come one after the other, old before new: beside each other, the columns of a wide table would be more
    /// than PostgreSQL returns.
    func tellUpdates(
        _ table: String, _ columns: [ColumnDetails], key: [String], before: String, after: String
    ) throws {
        guard let onChange else { return }
        var old: PlannedChange.Values?
        // A row whose key was updated along is not found again.
        func tellOld() throws {
            guard let values = old else { return }
            old = nil
            try onChange(PlannedChange(table: table, operation: .update(old: values), row: values, key: key))
        }
        try connection.forEachRow(of: "\(before) UNION ALL \(after) ORDER BY 1, 2 DESC") { row in
            let values = try Self.values(of: columns, row, from: 2)
            if try row.bool(1) == true {
                try tellOld()
                old = values
            } else if let values = old.map({ (old: $0, new: values) }) {
                old = nil
                try onChange(
                    PlannedChange(table: table, operation: .update(old: values.old), row: values.new, key: key))
            }
            return .next
        }
        try tellOld()
    }

    private static func values(
        of columns: [ColumnDetails], _ row: PostgresRow, from first: Int
    ) throws -> PlannedChange.Values {
        try columns.enumerated().map { ($1.name, try StoredValue(row, first + $0, of: $1)) }
    }
}

extension [ColumnDetails] {
    /// The columns of an alias, as a list of SQL.
    func list(_ alias: String) -> String {
        map { "\(alias).\($0.name.sqlIdentifier)" }.joined(separator: ", ")
    }
}

extension ChangedRows {
    /// Returns a WHERE clause for the rows `g` that others of the same table are not.
    fileprivate func isNone(of others: ChangedRows) -> String {
        let isSame = located.map { "x.\($0) = g.\($0)" }.joined(separator: " AND ")
        return " WHERE NOT EXISTS (SELECT 1 FROM \(others.name) x WHERE \(isSame))"
    }
}
