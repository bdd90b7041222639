import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// The histories of a file's tables.
struct SQLiteHistories: HistoryCatalog {
    let db: Database
    /// Knows the tables on the writing connection; nil on another.
    var memory: StagingMemory?
    let dialect: any SQLDialect = SQLiteDialect()

    var session: any SQLSession { db }

    func names() throws -> [HistoryName] {
        try String.fetchAll(
            db,
            sql: """
                SELECT name FROM main.sqlite_schema WHERE type = 'table' AND name LIKE ? ESCAPE '\\' ORDER BY name
                """, arguments: [HistoryTable.pattern]
        ).filter(HistoryTable.isHistory).map { HistoryName(schema: "main", name: $0) }
    }

    func table(_ name: String) throws -> StoredTable? {
        if let memory { return try memory.table(name, db) }
        return try StoredTable(db, table: name, schema: "main")
    }

    func columns(
        of history: String, for table: StoredTable
    ) throws -> FoundHistory? {
        let rows = try Row.fetchAll(db, sql: "PRAGMA main.table_xinfo(\(history.sqlIdentifier))")
        guard !rows.isEmpty else { return nil }
        let columns = rows.dropFirst(HistoryTable.ownColumns.count).map { row -> (name: String, fits: Bool) in
            let name: String = row["name"]
            let kept = Affinity(declaredType: row["type"], isStrict: table.isStrict).sqlType
            return (name, table.column(name).map { $0.isGenerated || $0.stagedType == kept } ?? true)
        }
        let versions = try String.fetchOne(
            db, sql: "SELECT coalesce(sql, '') FROM main.sqlite_schema WHERE lower(name) = lower(?)",
            arguments: [VersionsView.name(of: table.name)])
        return FoundHistory(
            history: HistoryName(schema: "main", name: history), columns: columns, versions: versions)
    }

    func create(for table: StoredTable, _ columns: [StoredTable.Column]) throws -> HistoryName {
        let history = HistoryName(schema: "main", name: HistoryTable.name(of: table.name))
        let key = table.lastingKey
        let collations = table.collations(ofKey: key) ?? key.map { _ in "BINARY" }
        let definitions = columns.map { column -> String in
            let place = key.firstIndex { $0.lowercased() == column.name.lowercased() }
            let collation = place.map { " COLLATE \(collations[$0])" } ?? ""
            return "\(column.sql) \(table.column(column.name)?.type ?? "")\(collation)"
        }
        let group = key.isEmpty ? [HistoryTable.row] : key.map(\.sqlIdentifier)
        try db.execute(
            sql: """
                CREATE TABLE \(history.sql) (
                    \(HistoryTable.id) INTEGER PRIMARY KEY, \(HistoryTable.run) INTEGER NOT NULL,
                    \(HistoryTable.operation) TEXT NOT NULL, \(HistoryTable.row) INTEGER,
                    \(HistoryTable.after) INTEGER, \(HistoryTable.width) INTEGER NOT NULL,
                    \(HistoryTable.time) TEXT NOT NULL,
                    \(definitions.joined(separator: ", "))
                )\(table.isStrict ? " STRICT" : "");
                CREATE INDEX main.\(history.runIndex) ON \(history.name.sqlIdentifier) (\(HistoryTable.run));
                CREATE INDEX main.\(history.keyIndex) ON \(history.name.sqlIdentifier) (\(group.joined(separator: ", ")))
                """)
        return history
    }

    func add(_ column: StoredTable.Column, of table: StoredTable, to history: HistoryName) throws {
        let value = try String.fetchOne(
            db, sql: "SELECT dflt_value FROM pragma_table_xinfo(?, 'main') WHERE lower(name) = lower(?)",
            arguments: [table.name, column.name])
        let constant = value.flatMap { $0.wholeMatch(of: Self.literal) == nil ? nil : " DEFAULT \($0)" } ?? ""
        let type = table.column(column.name)?.type ?? ""
        try db.execute(sql: "ALTER TABLE \(history.sql) ADD COLUMN \(column.sql) \(type)\(constant)")
    }

    /// Defaults that are the same for every row. `ALTER TABLE … ADD COLUMN` takes no others.
    private static var literal: Regex<Substring> {
        /'(?:[^']|'')*'|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|NULL|TRUE|FALSE|[xX]'[0-9a-fA-F]*'/
    }

    func drop(_ history: HistoryName) throws { try db.execute(sql: "DROP TABLE \(history.sql)") }

    func show(_ view: HistoryName, _ query: String, as mark: String) throws {
        try drop(view: view)
        try db.execute(sql: "CREATE VIEW \(view.sql) AS /* \(mark) */ \(query)")
    }

    // A view that names a database cannot be read where the file is attached under another name.
    func nameInView(_ table: String, sql: String) -> String { table.sqlIdentifier }

    func drop(view: HistoryName) throws { try db.execute(sql: "DROP VIEW IF EXISTS \(view.sql)") }

    // Values have no text here, but their own types.
    func fixTexts() throws {}
    func selected(_ value: String) -> String { value }

    func value(_ row: any SQLRow, _ index: Int, of column: StoredTable.Column?) throws -> StoredValue {
        row.storedValue(index)
    }
}

extension HistoryName {
    // Names that no table's history has.
    fileprivate var runIndex: String { "tributary_run_of_\(table)".sqlIdentifier }
    fileprivate var keyIndex: String { "tributary_key_of_\(table)".sqlIdentifier }
}
