import FeedModel
import FeedStaging
import FeedStores
import GRDB
import Merging
import StoreSQL

/// What a commit replaces, kept in `tributary_history_T` for each table `T`.
///
/// Before a statement changes rows, they are copied as they are into a work table, once each. New rows are noted there by
/// their place. At the end, what has become of each row decides how it is entered. Whatever happened in between, also by
/// triggers and foreign keys, the entry says what the row was before the commit, and keeps a digest of what it was after.
final class SQLiteBeforeImages: BeforeImages {
    /// A table some of whose rows have been changed.
    private struct Kept {
        var table: TableInfo
        var columns: [SQLiteColumn]
        /// The work table that holds `k0` … for the place of a row, `is_new`, and `c0` … for its values.
        var name: String

        var located: [String] { table.locator.indices.map { "k\($0)" } }
        var values: [String] { columns.indices.map { "c\($0)" } }
    }

    private unowned let driver: SQLiteMergeDriver
    private let run: Int64
    private let isExact: Bool
    private var kept: [TableID: Kept] = [:]

    private var db: Database { driver.db }

    init(_ driver: SQLiteMergeDriver, run: Int64, isExact: Bool) {
        self.driver = driver
        self.run = run
        self.isExact = isExact
    }

    func add(_ table: any StoredTable, from rows: String) throws {
        let kept = try kept(of: table.info)
        let names = (kept.located + ["is_new"] + kept.values).joined(separator: ", ")
        let values = kept.table.locator.map { "m." + $0 } + ["0"] + kept.columns.map { "m." + $0.sql }
        try db.execute(
            cached:
                "INSERT OR IGNORE INTO \(kept.name) (\(names)) SELECT \(values.joined(separator: ", ")) FROM \(rows)")
    }

    /// Runs an insertion, and notes its rows.
    ///
    /// - Parameter rows: the FROM clause of the insertion, with the staged rows as `s`.
    func noting<Value>(_ table: StagingTable, from rows: String, _ insertion: () throws -> Value) throws -> Value {
        let info = table.table
        if driver.partsWithPlaces.contains(table.name), let rowID = info.rowID {
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
        let new = try driver.newRows(of: table, rowID: rowID, number: 1)
        let value = try insertion()
        try noteNew(
            info, "SELECT m.\(rowID), 1 FROM \(table.qualifiedTable) m WHERE \(new) ORDER BY m.\(rowID)")
        return value
    }

    func addNewKeys(of difference: Difference) throws {
        guard let key = difference.table.table.generatedKey,
            difference.table.valueColumns.contains(where: { $0.lowercased() == key.lowercased() })
        else { return }
        try noteNew(
            difference.table.table,
            "SELECT s.\(key.sqlIdentifier), 1 FROM \(difference.rows(driver.dialect)) WHERE NOT d.is_new"
        )
    }

    private func noteNew(_ table: TableInfo, _ query: SQLText) throws {
        let kept = try kept(of: table)
        try db.execute(
            "INSERT OR IGNORE INTO \(kept.name) (\((kept.located + ["is_new"]).joined(separator: ", "))) \(query)")
    }

    private func kept(of table: TableInfo) throws -> Kept {
        let id = SQLiteTable.id(table.name)
        if let known = kept[id] { return known }
        // As it is now: columns may have been added since rows were staged.
        guard let current = try driver.table(table.name) as? SQLiteTable else {
            throw StoreError(.schema, "the store no longer has the table '\(table.name)'")
        }
        var kept = Kept(table: current.info, columns: current.columns.filter { !$0.isGenerated }, name: "")
        let located = kept.located.joined(separator: ", ")
        let key = current.info.hasRowID ? "\(located) INTEGER PRIMARY KEY, is_new" : "\(located), is_new"
        // Without a type, a column takes every value as it is.
        let end = current.info.hasRowID ? "" : ", PRIMARY KEY (\(located))"
        kept.name = try driver.makeTable(
            "kept_\(Fingerprint.hexadecimal(id))", "\(key), \(kept.values.joined(separator: ", "))\(end)")
        self.kept[id] = kept
        return kept
    }

    func write() throws {
        for (_, kept) in kept.sorted(by: { $0.key < $1.key }) { try write(kept) }
    }

    private func write(_ kept: Kept) throws {
        guard try db.isTrue("SELECT EXISTS (SELECT 1 FROM \(kept.name))") else { return }
        let table = kept.table
        let shape = try HistoryShape.prepare(db, for: table)
        let places = Dictionary(uniqueKeysWithValues: zip(kept.columns.map { $0.name.lowercased() }, kept.values))
        let isThere = shape.isThere("m")
        let identity = Set(shape.identity.map { $0.lowercased() })
        // The kept row has another key now: in the history, one row is gone and another is new.
        let isRenamed = shape.identity.compactMap { name in
            places[name.lowercased()].map { "b.\($0) IS NOT m.\(name.sqlIdentifier) COLLATE BINARY" }
        }
        let hasNewKey =
            isRenamed.isEmpty ? "0" : "NOT b.is_new AND \(isThere) AND (\(isRenamed.joinedConditions("OR")))"
        let differs = zip(kept.values, kept.columns).map {
            $1.differs("b.\($0)", from: "m.\($1.sql)", exactly: isExact)
        }
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
            """
            INSERT INTO \(shape.sql) (\(names))
            SELECT \(bind: run), CASE WHEN b.is_new THEN 'insert' WHEN \(isThere) AND NOT (\(hasNewKey)) THEN 'update' ELSE 'delete' END,
                \(row), CASE WHEN NOT (\(hasNewKey)) THEN \(shape.digest(ofStored: "m")) END,
                \(shape.columns.count), \(old)
            FROM \(rows)
            WHERE iif(b.is_new, \(isThere), NOT (\(isThere)) OR \(differs.joinedConditions("OR")))
            ORDER BY \(kept.located.map { "b." + $0 }.joined(separator: ", "))
            """)
        guard !isRenamed.isEmpty else { return }
        let new = values { identity.contains($0.lowercased()) ? "m." + $0.sqlIdentifier : "NULL" }
        try db.execute(
            """
            INSERT INTO \(shape.sql) (\(names))
            SELECT \(bind: run), 'insert', \(row), \(shape.digest(ofStored: "m")), \(shape.columns.count), \(new)
            FROM \(rows) WHERE \(hasNewKey) ORDER BY \(kept.located.map { "b." + $0 }.joined(separator: ", "))
            """)
    }
}
