import FeedModel
import FeedStaging
import FeedStores
import Merging
import PostgresClient
import StoreSQL

/// What a commit replaces, kept in `tributary_history_T` for each table `T`.
///
/// Before a statement changes rows, they are copied as they are into a work table. New rows are noted there by their keys.
/// At the end, what has become of each row decides how it is entered. Whatever happened in between, also by triggers and
/// foreign keys, the entry says what the row was before the commit, and keeps a digest of what it was after.
final class PostgresBeforeImages: BeforeImages {
    /// A table some of whose rows have been changed.
    private final class Kept {
        let table: TableDetails
        let columns: [ColumnDetails]
        /// The work table that holds `number` of the statement, `is_new`, `k0` … for the key of a row, and `c0` … for its
        /// values.
        let name: String
        /// The number of statements whose rows have been kept.
        private(set) var statements = 0

        init(_ table: TableDetails, _ columns: [ColumnDetails], name: String) {
            self.table = table
            self.columns = columns
            self.name = name
        }

        var located: [String] { RowList.located(table) }
        var values: [String] { columns.indices.map { "c\($0)" } }
        var newNames: String { (["number", "is_new"] + located).joined(separator: ", ") }

        func nextStatement() -> Int {
            statements += 1
            return statements
        }
    }

    private unowned let driver: PostgresMergeDriver
    private let run: Int64
    private let isExact: Bool
    private var kept: [UInt32: Kept] = [:]
    private var connection: PostgresConnection { driver.connection }

    init(_ driver: PostgresMergeDriver, run: Int64, isExact: Bool) {
        self.driver = driver
        self.run = run
        self.isExact = isExact
    }

    func add(_ table: any StoredTable, from rows: String) throws {
        // A table none of whose rows change needs no history.
        guard try driver.isTrue("SELECT EXISTS (SELECT 1 FROM \(rows))") else { return }
        let kept = try kept(of: table.details)
        let values =
            ["\(kept.nextStatement())", "false"] + kept.table.locator.map { "m." + $0.sql }
            + kept.columns.map { "m." + $0.sql }
        try connection.execute(
            """
            INSERT INTO \(kept.name) (\(kept.newNames), \(kept.values.joined(separator: ", ")))
            SELECT \(values.joined(separator: ", ")) FROM \(rows)
            """)
    }

    /// Returns what an insertion returns besides, and the further statement that notes its rows, which are in `changed`.
    func noting(_ table: TableDetails) throws -> (returning: String, statement: String) {
        let kept = try kept(of: table)
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

    func addNewKeys(of difference: Difference) throws {
        let table = difference.stored.details
        let key = table.locator.map(\.sql)
        guard difference.table.valueColumns.contains(where: { key.contains($0.postgresIdentifier) }) else { return }
        let kept = try kept(of: table)
        let values = ["\(kept.nextStatement())", "true"] + key.map { "m." + $0 }
        try connection.execute(
            """
            INSERT INTO \(kept.name) (\(kept.newNames)) SELECT \(values.joined(separator: ", "))
            FROM \(difference.storedRows(driver.dialect)) WHERE NOT d.is_new
            """)
    }

    private func kept(of table: TableDetails) throws -> Kept {
        if let known = kept[table.oid] { return known }
        guard !table.isLocatedByPlace else { throw Undo.noKey(table.name) }
        let columns = table.columns.filter { !$0.isComputed }
        let located = zip(RowList.located(table), table.locator).map { "\($0) \($1.definition)" }
        let values = columns.enumerated().map { "c\($0) \($1.definition)" }
        let name = try driver.makeTable(
            "kept_\(table.oid)",
            (["number integer NOT NULL", "is_new boolean NOT NULL"] + located + values).joined(separator: ", "))
        let new = Kept(table, columns, name: name)
        kept[table.oid] = new
        return new
    }

    func write() throws {
        if !kept.isEmpty { try connection.fixTexts() }
        for (_, kept) in kept.sorted(by: { $0.key < $1.key }) where kept.statements > 0 { try write(kept) }
    }

    private func write(_ kept: Kept) throws {
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
        let differs = zip(kept.values, kept.columns).map {
            $1.differs("b.\($0)", from: "m.\($1.sql)", exactly: isExact)
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
