import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// What a commit replaces, kept in `tributary_history_T` for each table `T`.
///
/// Before a statement changes rows, they are copied as they are into a table of the merge. New rows are noted there by
/// their keys. At the end, what has become of each row decides how it is entered. Whatever happened in between, also by
/// triggers and foreign keys, the entry says what the row was before the commit, and tells what it was after.
extension Merge {
    /// A table some of whose rows have been changed, and the merge's table in which they are kept.
    final class KeptRows {
        let table: TableDetails
        let columns: [ColumnDetails]
        /// The table that holds `number` of the statement, `is_new`, `k0` … for the key of a row, and `c0` … for its values.
        let name: String
        /// The number of statements whose rows have been kept.
        var statements = 0
        var count = 0

        init(_ table: TableDetails, _ columns: [ColumnDetails], name: String) {
            self.table = table
            self.columns = columns
            self.name = name
        }

        var located: [String] { ChangedRows.located(table) }
        var values: [String] { columns.indices.map { "c\($0)" } }
        var newNames: String { (["number", "is_new"] + located).joined(separator: ", ") }

        func nextStatement() -> Int {
            statements += 1
            return statements
        }
    }

    /// Keeps rows as they are now.
    ///
    /// - Parameter rows: a FROM clause, with the table's rows as `m`, each once.
    func keep(_ table: TableDetails, from rows: String) throws {
        guard keepsHistory else { return }
        let kept = try keptRows(of: table)
        let values =
            ["\(kept.nextStatement())", "false"] + table.locator.map { "m." + $0.sql }
            + kept.columns.map { "m." + $0.sql }
        kept.count += try connection.execute(
            """
            INSERT INTO \(kept.name) (\(kept.newNames), \(kept.values.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM \(rows)
            """
        ).affectedRows
    }

    func keep(_ rows: ChangedRows) throws {
        // A table none of whose rows change needs no history.
        guard keepsHistory, try count(rows.name) > 0 else { return }
        try keep(rows.table, from: "\(rows.name) g JOIN \(rows.table.sql) m ON \(rows.isRow("m", "g"))")
    }

    /// Returns what an insertion returns besides, and the further statement that notes its rows, which are in `changed`.
    func noting(_ table: TableDetails) throws -> (returning: String, statement: String)? {
        guard keepsHistory else { return nil }
        let kept = try keptRows(of: table)
        let key = zip(kept.located, table.locator).map { ", m.\($1.sql) AS \($0)" }.joined()
        return (
            key,
            """
            , kept AS (
                INSERT INTO \(kept.name) (\(kept.newNames))
                SELECT \(kept.nextStatement()), true, \(kept.located.joined(separator: ", ")) FROM changed)
            """
        )
    }

    /// Notes rows under the keys that an update has given them.
    func noteNewKeys(_ difference: Difference) throws {
        guard keepsHistory else { return }
        let table = try details(of: difference.table.table.name)
        let key = table.locator.map(\.sql)
        guard difference.table.valueColumns.contains(where: { key.contains($0.postgresIdentifier) }) else { return }
        let kept = try keptRows(of: table)
        let values = ["\(kept.nextStatement())", "true"] + key.map { "m." + $0 }
        try connection.execute(
            """
            INSERT INTO \(kept.name) (\(kept.newNames)) SELECT \(values.joined(separator: ", "))
            FROM \(difference.storedRows) WHERE NOT d.is_new
            """)
    }

    private func keptRows(of table: TableDetails) throws -> KeptRows {
        if let known = progress.kept[table.oid] { return known }
        guard !table.isLocatedByPlace else { throw Undo.noKey(table.name) }
        let columns = table.columns.filter { !$0.isComputed }
        let located = zip(ChangedRows.located(table), table.locator).map { "\($0) \($1.definition)" }
        let values = columns.enumerated().map { "c\($0) \($1.definition)" }
        let name = try workTable(
            "kept_\(progress.number())",
            (["number integer NOT NULL", "is_new boolean NOT NULL"] + located + values).joined(separator: ", "))
        let kept = KeptRows(table, columns, name: name)
        progress.kept[table.oid] = kept
        return kept
    }

    /// Enters the kept rows that are not what they were.
    func writeHistory() throws {
        if !progress.kept.isEmpty { try connection.fixTexts() }
        for (_, kept) in progress.kept.sorted(by: { $0.key < $1.key }) where kept.statements > 0 {
            try writeHistory(kept)
        }
    }

    private func writeHistory(_ kept: KeptRows) throws {
        let table = kept.table
        let shape = try HistoryShape.prepare(connection, for: table)
        let identity = Set(shape.identity)
        // Of several versions of a row, the first is that before the commit.
        let key = kept.located.joined(separator: ", ")
        let rows =
            kept.statements == 1
            ? kept.name : "(SELECT DISTINCT ON (\(key)) * FROM \(kept.name) ORDER BY \(key), number)"
        try connection.execute("ANALYZE \(kept.name) (\(key))")
        let places = Dictionary(uniqueKeysWithValues: zip(kept.columns.map(\.name), kept.values))
        let old = shape.columns.map { column in
            guard let place = places[column] else { return "NULL" }
            guard identity.contains(column.postgresIdentifier) else { return "b.\(place)" }
            return "CASE WHEN b.is_new THEN m.\(column.postgresIdentifier) ELSE b.\(place) END"
        }
        let differs = zip(kept.values, kept.columns).map { place, column in
            restoresSpelling
                ? column.isSpelt("b.\(place)", otherThan: "m.\(column.sql)")
                : "\(column.exact(of: "b.\(place)")) IS DISTINCT FROM \(column.exact("m"))"
        }
        let isSame = zip(kept.located, table.locator).map { "m.\($1.sql) = b.\($0)" }.joined(separator: " AND ")
        try connection.execute(
            """
            INSERT INTO \(shape.sql) (
                \(HistoryTable.run), \(HistoryTable.operation), \(HistoryTable.after), \(HistoryTable.width),
                \(shape.columns.map(\.postgresIdentifier).joined(separator: ", ")))
            SELECT \(run),
                CASE WHEN b.is_new THEN 'insert' WHEN m.tableoid IS NULL THEN 'delete' ELSE 'update' END,
                \(shape.digest(ofStored: "m")), \(shape.columns.count), \(old.joined(separator: ", "))
            FROM \(rows) b LEFT JOIN \(table.sql) m ON \(isSame)
            WHERE CASE WHEN b.is_new THEN m.tableoid IS NOT NULL
                ELSE m.tableoid IS NULL OR \(differs.joined(separator: " OR ")) END
            """)
    }
}
