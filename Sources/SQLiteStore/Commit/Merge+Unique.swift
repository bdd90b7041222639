import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// Unique values that pass from row to row: swapped, shifted, or held by a row that is about to be deleted.
///
/// SQLite checks each row as it writes it, not the result of the whole statement. If a statement fails for that reason,
/// the rows in its way step aside and it is run again. For a moment they get values that no other row has, in the
/// columns that are unique. First to step aside are the rows whose deletion was postponed, then the rows to be updated
/// whose unique columns change. If neither helps, the postponed deletions are carried out at once.
///
/// Foreign keys follow these rows as usual, including children with ON UPDATE CASCADE. Triggers see two updates of such
/// a row. Where no statement fails, none of this is done or costs anything.
extension Merge {
    private enum Remedy: CaseIterable {
        case parkPostponed
        /// NULL conflicts with no value, and suits every type.
        case parkAsNull
        case parkAsToken
        case deletePostponed
    }

    /// - Parameters:
    ///   - remaining: the rows of the table that are yet to be updated.
    ///   - parksFirst: true if rows step aside at once, because the table's own conflict clause would replace or skip
    ///     rows without an error.
    ///   - write: runs one statement, which changes nothing where it fails.
    func makingRoom<Value>(
        in table: StagingTable, for remaining: ArraySlice<Difference> = [], parksFirst: Bool = false,
        _ write: () throws -> Value
    ) throws -> Value {
        if parksFirst, try !apply(.parkAsNull, to: table, remaining) {
            _ = try apply(.parkAsToken, to: table, remaining)
        }
        do {
            return try write()
        } catch let error as DatabaseError where error.breaksUniqueness {
            for remedy in Remedy.allCases where try apply(remedy, to: table, remaining) {
                do {
                    return try write()
                } catch let error as DatabaseError where error.breaksUniqueness {
                    continue
                }
            }
            throw retention.hint(on: table.table).map { hint in
                StoreError(.constraint, "table '\(table.table.name)': \(error.message ?? error.description)\(hint)")
            } ?? error
        }
    }

    /// - Returns: true if anything has changed.
    private func apply(_ remedy: Remedy, to table: StagingTable, _ remaining: ArraySlice<Difference>) throws -> Bool {
        switch remedy {
        case .parkPostponed: return try parkPostponedRows(of: table.table)
        case .deletePostponed: return try deletePostponedRows(of: table.table.name)
        case .parkAsNull: return try park(remaining, asNull: true)
        case .parkAsToken: return try park(remaining, asNull: false)
        }
    }

    /// Gives rows that are to be deleted values that no other row has, except in the columns by which others refer to
    /// them.
    private func parkPostponedRows(of table: TableInfo) throws -> Bool {
        // Rows that are to be marked as gone keep their values.
        guard let postponed = progress.postponed[table.name], goneColumn(of: table.name) == nil else { return false }
        let referred = try memory.foreignKeys(db).references(to: table.name).flatMap(\.targets)
        let kept = Set((referred + table.primaryKey).map { $0.lowercased() })
        let unique = try uniqueColumns(of: table).subtracting(kept)
        let columns = table.columns.filter { unique.contains($0.name.lowercased()) && !$0.isGenerated }
        guard !columns.isEmpty else { return false }
        return try parking(table) { parked in
            let located = parked.located.joined(separator: ", ")
            try db.execute(
                sql: "INSERT INTO \(parked.name) (\(located)) SELECT \(located) FROM \(postponed.name) ORDER BY rowid")
            return try move(parked, columns, after: 0, count: Int64(db.changesCount), asNull: true) != nil
        }
    }

    /// Gives rows that are to be updated values that no other row has, if their unique columns change.
    private func park(_ differences: ArraySlice<Difference>, asNull: Bool) throws -> Bool {
        guard let table = differences.first?.table.table else { return false }
        let unique = try uniqueColumns(of: table)
        return try parking(table) { parked in
            try differences.reduce(false) { hasParked, difference in
                try park(difference, in: parked, unique, asNull: asNull) || hasParked
            }
        }
    }

    /// - Parameter body: fills the table of the rows that step aside, and returns true if there were any.
    private func parking(_ table: TableInfo, _ body: (ChangedRows) throws -> Bool) throws -> Bool {
        let located = ChangedRows.located(table)
        let list = located.joined(separator: ", ")
        let parked = ChangedRows(
            table: table, change: .update,
            name: try workTable(
                "parked_\(located.count)", "number INTEGER PRIMARY KEY, \(list), UNIQUE (\(list))"))
        try db.execute(sql: "PRAGMA ignore_check_constraints = ON")
        let result = Result { try body(parked) }
        do {
            try db.execute(sql: "PRAGMA ignore_check_constraints = OFF")
        } catch let error as DatabaseError where error.resultCode == .SQLITE_INTERRUPT {
            // The connection outlives the commit that is being stopped, so the pragma must be reset.
            try db.execute(sql: "PRAGMA ignore_check_constraints = OFF")
        }
        do {
            return try result.get()
        } catch let error as DatabaseError where error.isAboutValues {
            return false
        }
    }

    private func park(
        _ difference: Difference, in parked: ChangedRows, _ unique: Set<String>, asNull: Bool
    ) throws -> Bool {
        let table = parked.table
        let columns = difference.table.valueColumns.filter { unique.contains($0.lowercased()) }.compactMap(table.column)
        guard !columns.isEmpty else { return false }
        let last = try Int64.fetchOne(db, sql: "SELECT max(number) FROM \(parked.name)") ?? 0
        let differs = columns.map(\.name.sqlIdentifier).map { "s.\($0) IS NOT m.\($0) COLLATE BINARY" }
        let located = parked.located.joined(separator: ", ")
        try db.execute(
            sql: """
                INSERT INTO \(parked.name) (\(located)) SELECT \(table.locator.map { "m." + $0 }.joined(separator: ", "))
                FROM \(difference.storedRows) WHERE NOT d.is_new AND (\(differs.joinedConditions("OR"))) ORDER BY d.id
                """)
        let count = db.changesCount
        guard count > 0 else { return false }
        guard let rowID = try move(parked, columns, after: last, count: Int64(count), asNull: asNull)
        else { return false }
        if !rowID.isEmpty {
            // Their targets are now the new row ids.
            try db.execute(
                sql: """
                    UPDATE \(difference.name) SET target = (SELECT \(rowID) FROM \(parked.name) p WHERE p.k0 = target)
                    WHERE target IN (SELECT k0 FROM \(parked.name))
                    """)
        }
        if table.rowID != nil { _ = try changedRows(difference) }
        return true
    }

    /// Gives the rows with numbers after `last` their temporary values.
    ///
    /// - Returns: an expression for their new row ids, with the parked rows as `p`. It is empty where the row ids stay,
    ///   and nil where there are no such values.
    private func move(
        _ parked: ChangedRows, _ columns: [TableInfo.Column], after last: Int64, count: Int64, asNull: Bool
    ) throws -> String? {
        let table = parked.table
        let number = "(SELECT p.number FROM \(parked.name) p WHERE \(parked.isRow("m", "p")))"
        var rowID = ""
        var assignments: [String] = []
        for column in columns {
            guard let value = try parkedValue(of: column, table, number, count: last + count, asNull: asNull)
            else { return nil }
            if column.name.lowercased() == table.generatedKey?.lowercased() {
                rowID = value.replacingOccurrences(of: number, with: "p.number")
            }
            assignments.append("\(column.name.sqlIdentifier) = \(value)")
        }
        try db.execute(
            sql: """
                UPDATE main.\(table.name.sqlIdentifier) AS m SET \(assignments.joined(separator: ", "))
                WHERE (\(table.locator.joined(separator: ", "))) IN (
                    SELECT \(parked.located.joined(separator: ", ")) FROM \(parked.name) WHERE number > ?)
                """, arguments: [last])
        return rowID
    }

    /// Returns an expression for a value that a column accepts and no row has; nil where there is none.
    ///
    /// - Parameters:
    ///   - number: an expression for a number of the row's own, at most `count`.
    private func parkedValue(
        of column: TableInfo.Column, _ table: TableInfo, _ number: String, count: Int64, asNull: Bool
    ) throws -> String? {
        let isRowID = column.name.lowercased() == table.generatedKey?.lowercased()
        let isFollowed = try memory.foreignKeys(db).references(to: table.name).contains { reference in
            reference.onUpdate?.changesChildren == true
                && reference.targets.contains { $0.lowercased() == column.name.lowercased() }
        }
        // Children that follow the row must still find it.
        if asNull, !column.isNotNull, !isRowID, !isFollowed { return "NULL" }
        if isRowID || table.isStrict && ["INTEGER", "REAL"].contains(column.stagedType) {
            guard
                let first = try freeNumber(for: column, of: table, count: count, isReal: column.stagedType == "REAL")
            else { return nil }
            return "(\(first) + \(number))"
        }
        let token = "('tributary \(UUID().uuidString) ' || \(number))"
        return table.isStrict && column.stagedType == "TEXT" ? token : "CAST(\(token) AS BLOB)"
    }

    /// Returns the first of `count` numbers that a column does not have and will not get; nil where none was found.
    private func freeNumber(
        for column: TableInfo.Column, of table: TableInfo, count: Int64, isReal: Bool
    ) throws -> Int64? {
        let name = column.name.sqlIdentifier
        let staged = stack.parts.filter { $0.table.table.name == table.name && $0.table.supplies(column.name) }
        let tables = ["main.\(table.name.sqlIdentifier)"] + staged.map(\.table.qualifiedName)
        // Beyond this limit, a real number cannot represent each integer.
        let limit: Int64 = isReal ? 1 << 52 : 1 << 61
        for _ in 0..<64 {
            let first = Int64.random(in: -limit...limit - count)
            let isFree = try tables.allSatisfy { table in
                try Bool.fetchOne(
                    db, sql: "SELECT NOT EXISTS (SELECT 1 FROM \(table) WHERE \(name) BETWEEN ? AND ?)",
                    arguments: [first, first + count]) == true
            }
            if isFree { return first }
        }
        return nil
    }

    /// Returns the columns, in lower case, that take part in a unique constraint or index.
    private func uniqueColumns(of table: TableInfo) throws -> Set<String> {
        let indexes = try Row.fetchAll(
            db,
            sql: """
                SELECT l.name AS name, l.partial AS partial, s.sql AS sql FROM pragma_index_list(?, 'main') l
                LEFT JOIN main.sqlite_schema s ON s.type = 'index' AND s.name = l.name WHERE l."unique"
                """, arguments: [table.name])
        var columns: Set<String> = []
        if let generatedKey = table.generatedKey { columns.insert(generatedKey.lowercased()) }
        for index in indexes {
            let keys = try Row.fetchAll(
                db, sql: "SELECT name FROM pragma_index_xinfo(?, 'main') WHERE key",
                arguments: [index["name"] as String])
            let names = keys.map { $0[0] as String? }
            columns.formUnion(names.compactMap { $0?.lowercased() })
            if names.contains(where: { $0.flatMap(table.column)?.isGenerated == true }) {
                // Its value comes from other columns, perhaps any of them.
                columns.formUnion(table.columns.map { $0.name.lowercased() })
            } else if (index["partial"] as Int) != 0 || names.contains(nil), let sql: String = index["sql"] {
                // SQLite does not say which columns an expression names. One column too many does no harm.
                let sql = sql.lowercased()
                columns.formUnion(table.columns.map { $0.name.lowercased() }.filter(sql.contains))
            }
        }
        return columns
    }
}

extension DatabaseError {
    /// True if the statement might succeed with another value.
    fileprivate var isAboutValues: Bool {
        !breaksForeignKey
            && [.SQLITE_CONSTRAINT, .SQLITE_MISMATCH, .SQLITE_ERROR].contains(resultCode.primaryResultCode)
    }
}
