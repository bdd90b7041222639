package import FeedModel
import Foundation
package import GRDB
import GRDBSQLite

/// Makes SQLite copy the bound value.
private let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

/// Work in the database in which rows are staged, on its own queue.
extension Database {
    /// Writes a batch's rows under their numbers. Each statement takes many rows, which needs a third less time than
    /// one by one.
    package func write(_ batch: StagedBatch, into table: StagingTable, counts: StagedCounts) throws {
        let rows = batch.rows.rows
        if counts.nulls.isEmpty { counts.nulls = Array(repeating: 0, count: table.boundNames.count) }
        let many = table.rowsPerStatement
        let tail = rows.count % many
        try write(rows.dropLast(tail), many, of: batch, into: table, counts: counts)
        try write(rows.suffix(tail), 1, of: batch, into: table, counts: counts)
        counts.rows += rows.count
    }

    /// - Parameter many: the number of rows per statement; the number of rows is a multiple of it.
    private func write(
        _ rows: ArraySlice<RowBatch.RowStart>, _ many: Int, of batch: StagedBatch, into table: StagingTable,
        counts: StagedCounts
    ) throws {
        guard !rows.isEmpty else { return }
        let statement = try cachedStatement(sql: table.insertionSQL(rows: many)).sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        let columns = table.boundNames.count
        let width = 1 + columns + table.constants.count
        for (index, constant) in table.constants.enumerated() {
            let text = constant.value
            for slot in 0..<many {
                let parameter = Int32(slot * width + columns + 2 + index)
                try check(
                    sqlite3_bind_text64(
                        statement, parameter, text, UInt64(text.utf8.count), transient, UInt8(SQLITE_UTF8)),
                    constant.column.name, of: table)
            }
        }
        let numbers = batch.rows.numbers
        var slot = 0
        for index in rows.indices {
            var parameter = Int32(slot * width + 1)
            sqlite3_bind_int64(statement, parameter, numbers.isEmpty ? batch.firstRow + Int64(index) : numbers[index])
            var value = UnsafeRawPointer(batch.rows.bytes + rows[index].offset)
            for column in 0..<columns {
                parameter += 1
                let tag = RowBatch.Tag(rawValue: value.load(as: UInt8.self))
                value += 1
                switch tag {
                case .integer:
                    sqlite3_bind_int64(statement, parameter, value.loadUnaligned(as: Int64.self))
                    value += 8
                case .double:
                    sqlite3_bind_double(statement, parameter, value.loadUnaligned(as: Double.self))
                    value += 8
                case .text:
                    let length = value.loadUnaligned(as: UInt32.self)
                    // A nil destructor is SQLITE_STATIC: the batch outlives the statement's step.
                    let code = sqlite3_bind_text64(
                        statement, parameter, (value + 4).assumingMemoryBound(to: CChar.self), UInt64(length), nil,
                        UInt8(SQLITE_UTF8))
                    try check(code, table.boundNames[column], of: table)
                    value += 4 + Int(length)
                case .blob:
                    let length = value.loadUnaligned(as: UInt32.self)
                    let code = sqlite3_bind_blob64(statement, parameter, value + 4, UInt64(length), nil)
                    try check(code, table.boundNames[column], of: table)
                    value += 4 + Int(length)
                case .null, nil:
                    sqlite3_bind_null(statement, parameter)
                    counts.nulls[column] += 1
                }
            }
            slot += 1
            guard slot == many else { continue }
            slot = 0
            let code = sqlite3_step(statement)
            guard code == SQLITE_DONE else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: lastErrorMessage)
            }
            sqlite3_reset(statement)
        }
    }

    /// A value that cannot be bound would be NULL.
    @inline(__always)
    private func check(_ code: Int32, _ column: @autoclosure () -> String, of table: StagingTable) throws {
        guard code != SQLITE_OK else { return }
        guard code == SQLITE_TOOBIG else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
        let most = sqlite3_limit(sqliteConnection, SQLITE_LIMIT_LENGTH, -1)
        throw StoreError(
            .limit,
            "a value of column '\(column())' of table '\(table.table.name)' has more than \(most) bytes, which is the most "
                + "that SQLite, in which rows are staged, takes")
    }

    /// Refuses rows that lack a value the main store requires, keeps only the last of several rows with one key, and
    /// indexes the key.
    ///
    /// - Parameter onReplaced: called where several rows have one key, before one of them is removed.
    package func prepareForMerge(
        _ table: StagingTable, counts: StagedCounts, onReplaced: () throws -> Void = {}
    ) throws {
        guard counts.rows > 0, !table.isIdentifiedByReference else { return }
        try indexKey(of: table, counts: counts, onReplaced: onReplaced)
    }

    /// Does the work of ``prepareForMerge(_:counts:onReplaced:)``. For a key with references in it, this is done inside the
    /// commit.
    package func indexKey(
        of table: StagingTable, counts: StagedCounts, onReplaced: () throws -> Void = {}
    ) throws {
        let identity = table.identityColumns
        for column in table.requiredColumns(counts) { try checkMissingValue(of: column.name, column.isKey, in: table) }
        guard !identity.isEmpty else { return }
        if !table.isIndexed {
            if case .key = table.identity {
                if counts.hasAscendingKeys { return }
                do {
                    return try execute(sql: table.indexSQL(isUnique: true))
                } catch let error as DatabaseError where error.resultCode == .SQLITE_CONSTRAINT {
                }
            }
            try execute(sql: table.indexSQL(isUnique: false))
            if table.numbersRecords { try execute(sql: table.duplicatesCreationSQL) }
        }
        guard counts.rows > 1 else { return }
        let name = table.qualifiedName
        let key = identity.map(\.sqlIdentifier).joined(separator: ", ")
        let count = try cachedStatement(sql: "SELECT count(*) FROM (SELECT 1 FROM \(name) GROUP BY \(key))")
        guard try Int.fetchOne(count) ?? 0 < counts.rows else { return }
        if table.keeps == .discard {
            let several = """
                SELECT \(key), count(*), min(\(StagingTable.row)) FROM \(name)
                GROUP BY \(key), \(StagingTable.request(of: StagingTable.row)) HAVING count(*) > 1 LIMIT 1
                """
            if let row = try Row.fetchOne(self, sql: several) {
                let figures = identity.count
                throw StoreError.duplicates(
                    in: table, describe(row.prefix(figures)), count: row[figures], row: row[figures + 1])
            }
        }
        try onReplaced()
        if table.numbersRecords {
            // References to a record that was replaced now lead to its replacement.
            try execute(
                cached: """
                    INSERT INTO \(table.duplicates) SELECT \(StagingTable.record),
                    \(table.kept(StagingTable.row, of: key)) FROM \(name)
                    """)
        }
        let kept =
            table.keeps == .first
            ? "SELECT \(table.kept(StagingTable.row, of: key)) FROM \(name)"
            : "SELECT max(\(StagingTable.row)) FROM \(name) GROUP BY \(key)"
        try execute(cached: "DELETE FROM \(name) WHERE \(StagingTable.row) NOT IN (\(kept))")
        counts.rows -= changesCount
        counts.replaced += changesCount
        counts.hasDuplicates = table.numbersRecords
    }

    /// Checks the rows themselves, as a row without a value may have been forgotten again.
    private func checkMissingValue(of column: String, _ isKey: Bool, in table: StagingTable) throws {
        let columns = table.describedColumns.map { "\($0.column.sqlIdentifier) AS \($0.name.sqlIdentifier)" }
        guard
            let row = try Row.fetchOne(
                self,
                sql: """
                    SELECT \(columns.joined(separator: ", ")) FROM \(table.qualifiedName)
                    WHERE \(table.lacksValue(column, isKey)) LIMIT 1
                    """)
        else { return }
        throw table.missingValue(column, isKey, in: describe(row))
    }

    /// Makes each table's name stand for its staged rows and those rows of the main store that they will not replace.
    func overlayStagedRows(of stagings: [StagingTable]) throws {
        for (name, stagings) in Dictionary(grouping: stagings, by: \.table.name) {
            let view = name.sqlIdentifier
            for staging in stagings { try execute(sql: staging.indexSQL(isUnique: false)) }
            let columns = stagings[0].table.columns.filter { !$0.isGenerated }.map(\.name)
            var selects: [String] = []
            for staging in stagings {
                let values = columns.map { staging.value(of: $0, "s", among: stagings, else: "m." + $0.sqlIdentifier) }
                selects.append(
                    "SELECT \(values.joined(separator: ", ")) FROM \(staging.name) s "
                        + "LEFT JOIN store.\(view) m ON \(staging.matches("s", "m"))"
                        + staging.isLatest("s", among: stagings).whereClause)
            }
            let conditions = stagings.compactMap { staging -> String? in
                guard case .key = staging.identity else { return nil }
                return "NOT EXISTS (SELECT 1 FROM \(staging.name) s WHERE \(staging.matches("s", "m")))"
            }
            let stored = columns.map { "m." + $0.sqlIdentifier }.joined(separator: ", ")
            selects.append("SELECT \(stored) FROM store.\(view) m" + conditions.whereClause)
            let names = columns.map(\.sqlIdentifier).joined(separator: ", ")
            try execute(
                sql: """
                    DROP VIEW IF EXISTS temp.\(view);
                    CREATE TEMP VIEW \(view) (\(names)) AS \(selects.joined(separator: " UNION ALL "))
                    """)
        }
    }
}

/// Returns a row as errors show it: `id = 7, name = 'Acme'`, cut where it is long.
package func describe(_ row: some Sequence<(String, DatabaseValue)>) -> String {
    let text = row.map { "\($0.0) = \($0.1.isNull ? "NULL" : "\($0.1)")" }.joined(separator: ", ")
    return "(" + (text.count > 300 ? text.prefix(300) + "…" : text) + ")"
}

extension [String] {
    package var whereClause: String { isEmpty ? "" : " WHERE " + joinedConditions("AND") }

    /// Joins conditions by an operator, with many of them as a balanced tree. SQLite nests a plain chain one level
    /// deeper with each condition, and refuses more than 1,000 levels (limits.html, "SQLITE_MAX_EXPR_DEPTH").
    package func joinedConditions(_ operation: String) -> String { self[...].joinedConditions(operation) }
}

extension ArraySlice<String> {
    fileprivate func joinedConditions(_ operation: String) -> String {
        guard count > 200 else { return joined(separator: " \(operation) ") }
        let middle = startIndex + count / 2
        return
            "(\(self[..<middle].joinedConditions(operation))) \(operation) (\(self[middle...].joinedConditions(operation)))"
    }
}

extension StagingTable {
    /// The staged columns that describe a row in an error, with their names there. A column that is looked up is
    /// described by the values that look it up.
    package var describedColumns: [(column: String, name: String)] {
        let lookups = references.flatMap { reference in
            reference.lookups.map { lookup in
                lookup.column.map { (lookup.staged, "\(reference.target.name)(\($0))") }
                    ?? (reference.column.name, reference.column.name)
            }
        }
        let supplied = columns.map { ($0.name, $0.name) }
        return supplied + lookups.filter { lookup in !supplied.contains { $0.0 == lookup.0 } }
    }

    /// The collations under which the key's columns are unique.
    package var keyCollations: [String] {
        if case .key(_, let collations) = identity { collations } else { [] }
    }

    /// Returns true if a record's value for a column, if any, is the one that will be merged.
    package func mustHave(_ column: StoredTable.Column) -> Bool {
        !ignored.contains(column.name.lowercased()) && !references.contains { $0.column.name == column.name }
    }

    /// Returns the columns in which some rows may lack a value that every row must have, and whether they are part of the key.
    package func requiredColumns(_ counts: StagedCounts) -> [(name: String, isKey: Bool)] {
        let supplied = columns.indices.filter { counts.nulls[$0] > 0 && mustHave(columns[$0]) }.map { columns[$0] }
        // A NULL cannot identify a row.
        return supplied.filter { isKey($0.name) || $0.isNotNull && $0.name != table.generatedKey }
            .map { ($0.name, isKey($0.name)) } + references.map(\.column.name).filter(isKey).map { ($0, true) }
    }

    /// Returns the condition that a row lacks such a value. A record that is deleted need not have more than its key.
    package func lacksValue(_ column: String, _ isKey: Bool) -> String {
        "\(column.sqlIdentifier) IS NULL" + (marksDeleted && !isKey ? " AND \(Self.deleted) = 0" : "")
    }

    package func missingValue(_ column: String, _ isKey: Bool, in row: String) -> StoreError {
        let what = isKey ? "its key column '\(column)' has no value" : "column '\(column)' must not be NULL"
        return StoreError(.constraint, "table '\(table.name)': \(what), in the row \(row)")
    }

    package func isKey(_ column: String) -> Bool {
        guard case .key(let key, _) = identity else { return false }
        return key.contains { $0.lowercased() == column.lowercased() }
    }

    package func supplies(_ column: String) -> Bool {
        allColumns.contains { $0.name.lowercased() == column.lowercased() }
    }

    /// Returns a condition that a row under one alias is the row under the other. Always false without a key.
    package func matches(_ left: String, _ right: String) -> String {
        guard case .key(let key, let collations) = identity else { return "0" }
        return zip(key.map(\.sqlIdentifier), collations)
            .map { "\(left).\($0) = \(right).\($0) COLLATE \($1)" }.joinedConditions("AND")
    }

    /// Returns the conditions under which a row is not deleted, and counts among those that have the same key.
    ///
    /// - Parameter all: the staging tables of the same table of the store. Among rows of different ones, the latest
    ///   counts.
    func isLatest(_ alias: String, among all: [StagingTable]) -> [String] {
        all.filter(mayShareKeys).map { other in
            let isBetter = keeps == .first && other.name == name ? "<" : ">"
            return
                "NOT EXISTS (SELECT 1 FROM \(other.name) n WHERE \(other.matches("n", alias)) AND n.\(Self.row) \(isBetter) \(alias).\(Self.row))"
        } + (marksDeleted ? ["\(alias).\(Self.deleted) = 0"] : [])
    }

    /// Returns the value that a column of a row will have: its own, or that of the latest row with the same key that
    /// has one.
    ///
    /// - Parameter other: the value where no staged row has one.
    func value(of column: String, _ alias: String, among all: [StagingTable], else other: String) -> String {
        let name = column.sqlIdentifier
        if supplies(column) { return "\(alias).\(name)" }
        let found = all.filter { $0.supplies(column) && $0.mayShareKeys(with: self) }.map {
            "SELECT v.\(Self.row) AS row, v.\(name) AS value FROM \($0.name) v WHERE \($0.matches("v", alias))"
        }
        guard !found.isEmpty else { return other }
        let stored = "SELECT -1 AS row, \(other) AS value"
        return "(SELECT value FROM (\((found + [stored]).joined(separator: " UNION ALL "))) ORDER BY row DESC LIMIT 1)"
    }

    package var duplicatesCreationSQL: String { "CREATE TABLE \(duplicates) (record INTEGER, row INTEGER)" }

    package func indexSQL(isUnique: Bool) -> String {
        guard !identityColumns.isEmpty else { return "" }
        let columns = identityColumns.map(\.sqlIdentifier).joined(separator: ", ")
        return
            "CREATE \(isUnique ? "UNIQUE " : "")INDEX IF NOT EXISTS \(schema).\(name)_\(isUnique ? "key" : "identity") ON \(name) (\(columns))"
    }
}
