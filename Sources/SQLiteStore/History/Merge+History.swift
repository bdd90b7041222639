import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// What a commit replaces, kept in `tributary_history_T` for each table `T`.
///
/// Before a statement changes rows, they are copied as they are into a table of the merge, once each. New rows are noted
/// there by their place. At the end, what has become of each row decides how it is entered. Whatever happened in between,
/// also by triggers and foreign keys, the entry says what the row was before the commit, and tells what it was after.
extension Merge {
    /// A table some of whose rows have been changed, and the merge's table in which they are kept.
    struct KeptRows {
        var table: TableInfo
        var columns: [String]
        /// The table that holds `k0` … for the place of a row, `is_new`, and `c0` … for its values.
        var name: String

        var located: [String] { ChangedRows.located(table) }
        var values: [String] { columns.indices.map { "c\($0)" } }
    }

    /// Keeps rows as they are now, unless they are kept already.
    ///
    /// - Parameter rows: a FROM clause, with the table's rows as `m`.
    func keep(_ table: TableInfo, from rows: String, _ arguments: StatementArguments = []) throws {
        guard keepsHistory else { return }
        let kept = try keptRows(of: table)
        let names = (kept.located + ["is_new"] + kept.values).joined(separator: ", ")
        let values = table.locator.map { "m." + $0 } + ["0"] + kept.columns.map { "m." + $0.sqlIdentifier }
        try db.execute(
            cached:
                "INSERT OR IGNORE INTO \(kept.name) (\(names)) SELECT \(values.joined(separator: ", ")) FROM \(rows)",
            arguments)
    }

    func keep(_ rows: ChangedRows) throws {
        try keep(
            rows.table,
            from: "\(rows.name) g CROSS JOIN main.\(rows.table.name.sqlIdentifier) m ON \(rows.isRow("m", "g"))")
    }

    /// Runs an insertion, and notes its rows.
    ///
    /// - Parameter rows: the FROM clause of the insertion, with the staged rows as `s`.
    func noting<Value>(_ table: StagingTable, from rows: String, _ insertion: () throws -> Value) throws -> Value {
        guard keepsHistory else { return try insertion() }
        let info = table.table
        if partsWithPlaces.contains(table.name), let rowID = info.rowID {
            let value = try insertion()
            let isRow = table.matches("m", "s")
            try noteNew(
                info, "SELECT (SELECT m.\(rowID) FROM \(table.qualifiedTable) m WHERE \(isRow)), 1 FROM \(rows)")
            return value
        }
        guard let rowID = info.rowID, info.generatedKey.map({ !table.supplies($0) }) ?? true else {
            let key = info.generatedKey.map { [$0] } ?? info.primaryKey
            let value = try insertion()
            try noteNew(info, "SELECT \(key.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")), 1 FROM \(rows)")
            return value
        }
        let new = try newRows(of: table, rowID: rowID, number: 1)
        let value = try insertion()
        try noteNew(
            info, "SELECT m.\(rowID), 1 FROM \(table.qualifiedTable) m WHERE \(new.condition) ORDER BY m.\(rowID)",
            new.arguments)
        return value
    }

    /// Notes rows under the keys that an update has given them.
    func noteNewKeys(_ difference: Difference) throws {
        guard keepsHistory, case let key = difference.table.table.generatedKey, let key,
            difference.table.valueColumns.contains(where: { $0.lowercased() == key.lowercased() })
        else { return }
        try noteNew(
            difference.table.table, "SELECT s.\(key.sqlIdentifier), 1 FROM \(difference.rows) WHERE NOT d.is_new")
    }

    private func noteNew(_ table: TableInfo, _ query: String, _ arguments: StatementArguments = []) throws {
        let kept = try keptRows(of: table)
        try db.execute(
            cached: """
                INSERT OR IGNORE INTO \(kept.name) (\((kept.located + ["is_new"]).joined(separator: ", "))) \(query)
                """, arguments)
    }

    private func keptRows(of table: TableInfo) throws -> KeptRows {
        if let known = progress.kept[table.name] { return known }
        // Read anew: columns may have been added since rows were staged.
        let current = try TableInfo(db, table: table.name, schema: "main") ?? table
        let columns = current.columns.filter { !$0.isGenerated }.map(\.name)
        var kept = KeptRows(table: current, columns: columns, name: "")
        let located = kept.located
        let key =
            current.hasRowID
            ? "\(located[0]) INTEGER PRIMARY KEY, is_new"
            : "\(located.joined(separator: ", ")), is_new"
        // Without a type, a column takes every value as it is.
        let end = current.hasRowID ? "" : ", PRIMARY KEY (\(located.joined(separator: ", ")))"
        let definition = "\(key), \(kept.values.joined(separator: ", "))\(end)"
        kept.name = try workTable("kept_\(Fingerprint.hexadecimal(table.name + definition))", definition)
        progress.tablesToEmpty.append(kept.name)
        progress.kept[table.name] = kept
        return kept
    }

    /// Enters the kept rows that are not what they were.
    func writeHistory() throws {
        for (_, kept) in progress.kept.sorted(by: { $0.key < $1.key }) { try writeHistory(kept) }
    }

    private func writeHistory(_ kept: KeptRows) throws {
        let isEmpty = try Bool.fetchOne(db.cachedStatement(sql: "SELECT NOT EXISTS (SELECT 1 FROM \(kept.name))"))
        guard isEmpty == false else { return }
        let table = kept.table
        let shape = try HistoryShape.prepare(db, for: table)
        let places = Dictionary(uniqueKeysWithValues: zip(kept.columns.map { $0.lowercased() }, kept.values))
        let isThere = shape.isThere("m")
        let identity = Set(shape.identity.map { $0.lowercased() })
        // The kept row has another key now: in the history, one row is gone and another is new.
        let isRenamed = shape.identity.compactMap { name in
            places[name.lowercased()].map { "b.\($0) IS NOT m.\(name.sqlIdentifier) COLLATE BINARY" }
        }
        let hasNewKey =
            isRenamed.isEmpty ? "0" : "NOT b.is_new AND \(isThere) AND (\(isRenamed.joinedConditions("OR")))"
        let differs = zip(kept.values, kept.columns).map { self.differs("b.\($0)", from: "m.\($1.sqlIdentifier)") }
        let rows = """
            \(kept.name) b LEFT JOIN main.\(table.name.sqlIdentifier) m
            ON \(zip(kept.located, table.locator).map { "m.\($1) = b.\($0)" }.joinedConditions("AND"))
            """
        let row = table.hasRowID ? "b.k0" : "NULL"
        let columns = shape.columns.map(\.sqlIdentifier).joined(separator: ", ")
        func values(_ value: (String) -> String) -> String { shape.columns.map(value).joined(separator: ", ") }
        let old = values { column in
            guard let kept = places[column.lowercased()] else { return "NULL" }
            return identity.contains(column.lowercased())
                ? "iif(b.is_new, m.\(column.sqlIdentifier), b.\(kept))" : "b.\(kept)"
        }
        let names = """
            \(HistoryTable.run), \(HistoryTable.operation), \(HistoryTable.row), \(HistoryTable.after), \
            \(HistoryTable.width), \(columns)
            """
        try db.execute(
            cached: """
                INSERT INTO \(shape.sql) (\(names))
                SELECT ?, CASE WHEN b.is_new THEN 'insert' WHEN \(isThere) AND NOT (\(hasNewKey)) THEN 'update' ELSE 'delete' END,
                    \(row), CASE WHEN NOT (\(hasNewKey)) THEN \(shape.digest(ofStored: "m")) END,
                    \(shape.columns.count), \(old)
                FROM \(rows)
                WHERE iif(b.is_new, \(isThere), NOT (\(isThere)) OR \(differs.joinedConditions("OR")))
                ORDER BY \(kept.located.map { "b." + $0 }.joined(separator: ", "))
                """, [run])
        guard !isRenamed.isEmpty else { return }
        let new = values { identity.contains($0.lowercased()) ? "m." + $0.sqlIdentifier : "NULL" }
        try db.execute(
            cached: """
                INSERT INTO \(shape.sql) (\(names))
                SELECT ?, 'insert', \(row), \(shape.digest(ofStored: "m")), \(shape.columns.count), \(new)
                FROM \(rows) WHERE \(hasNewKey) ORDER BY \(kept.located.map { "b." + $0 }.joined(separator: ", "))
                """, [run])
    }
}
