import FeedModel
import FeedStaging
import GRDB

/// Reports the changes that a merge is about to make.
extension Merge {
    func tell(
        _ table: StagingTable, _ operation: PlannedChange.Operation, sql: String,
        _ arguments: StatementArguments = StatementArguments()
    ) throws {
        guard let onChange else { return }
        let rows = try Row.fetchCursor(db, sql: sql, arguments: arguments)
        while let row = try rows.next() {
            try onChange(
                PlannedChange(
                    table: table.table.name, operation: operation, row: row.storedValues, key: table.keyColumns)
            )
        }
    }

    func tellUpdates(_ difference: Difference) throws {
        guard onChange != nil else { return }
        let table = difference.table
        if difference.back > 0 {
            let values = table.allColumns.map { "s." + $0.name.sqlIdentifier }.joined(separator: ", ")
            try tell(table, .insert, sql: "SELECT \(values) FROM \(difference.rows) WHERE d.is_back ORDER BY d.id")
        }
        try tellUpdates(
            table, of: table.identityColumns + table.valueColumns,
            from: "\(difference.storedRows) WHERE NOT d.is_new AND NOT d.is_back ORDER BY d.id"
        ) { "s.\($0.sqlIdentifier)" }
    }

    /// Reports rows of the store, `m`, that are about to be updated.
    ///
    /// - Parameters:
    ///   - rows: the FROM clause, with its conditions and an order.
    ///   - new: returns an expression for what a column will be.
    func tellUpdates(
        _ table: StagingTable, of names: [String], from rows: String, new: (String) -> String
    ) throws {
        guard let onChange else { return }
        // In one query, the columns of a wide table would be more than SQLite returns.
        func values(_ value: (String) -> String) throws -> RowCursor {
            try Row.fetchCursor(db, sql: "SELECT \(names.map(value).joined(separator: ", ")) FROM \(rows)")
        }
        let new = try values(new)
        let old = try values { "m.\($0.sqlIdentifier)" }
        while let newRow = try new.next(), let oldRow = try old.next() {
            try onChange(
                PlannedChange(
                    table: table.table.name,
                    operation: .update(old: Self.values(of: names, oldRow)),
                    row: Self.values(of: names, newRow), key: table.keyColumns))
        }
    }

    private static func values(of names: [String], _ row: Row) -> PlannedChange.Values {
        zip(names, row.databaseValues).map { ($0, StoredValue($1)) }
    }

    /// Reports rows that are about to be deleted, and notes those that will be updated along with them.
    ///
    /// - Parameter told: the rows that have been reported already.
    /// - Returns: a closure that reports the updated rows once they have been updated.
    func tellTaken(_ taken: [ChangedRows], besides told: ChangedRows? = nil) throws -> () throws -> Void {
        guard let onChange else { return {} }
        var updated: [(table: TableInfo, before: String, after: String)] = []
        for (index, rows) in taken.enumerated() {
            let table = rows.table
            let found = "main.\(table.name.sqlIdentifier) m ON \(rows.isRow("m", "g"))"
            if rows.change == .delete {
                let others = told.map { told in
                    let isSame = told.located.map { "x.\($0) = g.\($0)" }.joinedConditions("AND")
                    return told.table.name == table.name
                        ? " WHERE NOT EXISTS (SELECT 1 FROM \(told.name) x WHERE \(isSame))" : ""
                }
                let gone = try Row.fetchCursor(
                    db, sql: "SELECT m.* FROM \(rows.name) g CROSS JOIN \(found)\(others ?? "") ORDER BY g.rowid")
                while let row = try gone.next() {
                    try onChange(
                        PlannedChange(
                            table: table.name, operation: .delete, row: row.storedValues, key: table.primaryKey)
                    )
                }
                continue
            }
            // Rows that are also deleted are reported once.
            let gone = taken.first { $0.change == .delete && $0.table.name == table.name }.map { gone in
                let isSame = rows.located.map { "x.\($0) = g.\($0)" }.joinedConditions("AND")
                return " WHERE NOT EXISTS (SELECT 1 FROM \(gone.name) x WHERE \(isSame))"
            }
            let select = "SELECT m.* FROM \(rows.name) g LEFT JOIN \(found)\(gone ?? "") ORDER BY g.rowid"
            let before = "\(stack.schema).tributary_before_\(index)"
            try db.execute(sql: "DROP TABLE IF EXISTS \(before); CREATE TABLE \(before) AS \(select)")
            updated.append((table, before, select))
        }
        return { [updated] in
            for (table, before, after) in updated {
                let old = try Row.fetchCursor(db, sql: "SELECT * FROM \(before) ORDER BY rowid")
                let new = try Row.fetchCursor(db, sql: after)
                while let oldRow = try old.next(), let newRow = try new.next() {
                    let oldValues = oldRow.storedValues
                    // A row whose primary key was updated is not found again.
                    let isFound = newRow.contains { !$0.1.isNull }
                    try onChange(
                        PlannedChange(
                            table: table.name, operation: .update(old: oldValues),
                            row: isFound ? newRow.storedValues : oldValues, key: table.primaryKey))
                }
            }
        }
    }
}

extension Row {
    fileprivate var storedValues: PlannedChange.Values { map { ($0.0, StoredValue($0.1)) } }
}

extension StoredValue {
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let number): .integer(number)
            case .double(let number): .real(number)
            case .string(let text): .text(text)
            case .blob(let data): .blob(data)
            }
    }
}
