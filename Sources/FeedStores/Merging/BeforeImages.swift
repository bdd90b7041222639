import FeedModel
package import FeedStaging
package import Foundation

/// The before-images of a commit, kept in `tributary_history_T` for each table `T`.
///
/// Before a statement changes rows, they are copied into a work table. New rows are noted there by their locators. At
/// the end, each row is compared with its copy, and the difference is entered: the row before the commit, and a
/// digest of the row after it. Changes by triggers and foreign keys are included.
package final class BeforeImages {
    /// A table some of whose rows have been changed.
    private final class Kept {
        let table: StoredTable
        let columns: [StoredTable.Column]
        /// The work table that holds the `number` of the statement, `is_new`, `k0` … for what locates a row, and `c0` …
        /// for its values.
        let name: String
        /// The number of statements whose rows have been kept.
        private(set) var statements = 0

        init(_ table: StoredTable, _ columns: [StoredTable.Column], name: String) {
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

    private unowned let driver: any MergeDriver
    private var kept: [TableID: Kept] = [:]
    private var dialect: any SQLDialect { driver.dialect }
    /// The time of the commit.
    package var time = Date()
    /// True to show the versions of rows in a view of each table.
    package var showsVersions = false

    package init(_ driver: any MergeDriver) { self.driver = driver }

    /// Copies rows in their present state, unless they have been copied.
    ///
    /// - Parameter rows: a FROM clause, with the table's rows as `m`.
    func add(_ table: StoredTable, from rows: String) throws {
        // A table none of whose rows change needs no history.
        guard try driver.isTrue("SELECT EXISTS (SELECT 1 FROM \(rows))") else { return }
        let kept = try kept(of: table)
        try driver.execute(
            dialect.insertNew(
                into: kept.name, "\(kept.newNames), \(kept.values.joined(separator: ", "))",
                """
                SELECT \(bind: kept.nextStatement()), \(dialect.literal(false)), \(table.locators("m")), \
                \(kept.columns.list("m")) FROM \(rows)
                """))
    }

    func add(_ rows: RowList) throws { try add(rows.table, from: rows.stored(dialect)) }

    /// Returns the statement that notes new rows.
    ///
    /// - Parameters:
    ///   - located: expressions for what locates them.
    ///   - rows: a FROM clause.
    package func noting(_ table: StoredTable, _ located: String, from rows: SQLText) throws -> SQLText {
        let kept = try kept(of: table)
        return dialect.insertNew(
            into: kept.name, kept.newNames,
            "SELECT \(bind: kept.nextStatement()), \(dialect.literal(true)), \(located) FROM \(rows)")
    }

    /// Notes rows under the keys that an update has given them.
    func addNewKeys(of difference: Difference) throws {
        let table = difference.stored
        let key = table.locator.compactMap(\.column)
        let written = Set(difference.table.valueColumns.map { $0.lowercased() })
        guard key.contains(where: { written.contains($0.lowercased()) }) else { return }
        // The row ids of a difference are those before the update.
        let isByRowID = table.rowID != nil
        let located = isByRowID ? key.map { "s." + $0.sqlIdentifier }.joined(separator: ", ") : table.locators("m")
        let rows = isByRowID ? difference.rows(dialect) : difference.storedRows(dialect)
        try driver.execute(noting(table, located, from: "\(rows) WHERE NOT d.is_new"))
    }

    private func kept(of table: StoredTable) throws -> Kept {
        if let known = kept[table.id] { return known }
        guard !table.isLocatedByPlace else { throw Undo.noKey(table.name) }
        let columns = table.columns.filter { !$0.isComputed }
        let definitions =
            ["number \(dialect.integer) NOT NULL", "is_new \(dialect.boolean) NOT NULL"]
            + columns.enumerated().map { "c\($0) \(dialect.definition(of: $1))" }
        let name = try driver.makeTable(
            "kept_\(Fingerprint.hexadecimal(table.id))", dialect.imagesDefinition(of: table, columns: definitions))
        let new = Kept(table, columns, name: name)
        kept[table.id] = new
        return new
    }

    // MARK: - The end

    /// Enters the rows that differ from their copies into the histories.
    func write() throws {
        guard !kept.isEmpty else { return }
        try driver.histories.fixTexts()
        for (_, kept) in kept.sorted(by: { $0.key < $1.key }) { try write(kept) }
    }

    private func write(_ kept: Kept) throws {
        guard try driver.isTrue("SELECT EXISTS (SELECT 1 FROM \(kept.name))") else { return }
        let table = kept.table
        let shape = try HistoryShape.prepare(driver.histories, for: table)
        if showsVersions { try HistoryVersions(shape: shape).prepare(driver.histories) }
        let located = kept.located.joined(separator: ", ")
        try driver.analyze("\(kept.name) (\(located))")
        // Of several versions of a row, the first is that before the commit.
        let versions = kept.statements == 1 ? kept.name : dialect.firstImages(of: kept.name, by: located)
        let isLocated = zip(kept.located, table.locator).map { "m.\($1.sql) = b.\($0)" }
        let rows = "\(versions) b LEFT JOIN \(table.sql) m ON \(isLocated.joinedConditions("AND"))"
        let places = Dictionary(uniqueKeysWithValues: zip(kept.columns.map(\.name), kept.values))
        let identity = Set(try shape.identity.map { try table.needed($0).name })
        // A row id stays where the key changes: in the history, one row is gone then and another is new.
        let isRenamed = identity.subtracting(table.locator.compactMap(\.column)).sorted().compactMap { name in
            places[name].flatMap { place in
                table.column(name).map { dialect.differs($0, "b.\(place)", from: "m.\($0.sql)", exactly: false) }
            }
        }
        let isThere = table.isThere("m")
        let hasNewKey = "NOT b.is_new AND \(isThere) AND (\(isRenamed.joinedConditions("OR")))"
        let keepsKey = isRenamed.isEmpty ? "" : " AND NOT (\(hasNewKey))"
        let differs = zip(kept.values, kept.columns).map {
            dialect.differs($1, "b.\($0)", from: "m.\($1.sql)", exactly: driver.isExact)
        }
        func values(_ value: (StoredTable.Column, String) -> String) -> String {
            shape.columns.map { name in
                guard let column = shape.column(name), let place = places[column.name] else { return "NULL" }
                return value(column, place)
            }.joined(separator: ", ")
        }
        // An entry of a new row has only its key.
        let key = Set(try shape.key.map { try table.needed($0).name })
        let old = values { column, place in
            key.contains(column.name)
                ? "CASE WHEN b.is_new THEN m.\(column.sql) ELSE b.\(place) END" : "b.\(place)"
        }
        let insertion: SQLText = """
            INSERT INTO \(shape.sql) (
                \(HistoryTable.run), \(HistoryTable.time), \(HistoryTable.row), \(HistoryTable.width),
                \(HistoryTable.operation), \(HistoryTable.after), \(shape.columns.map(\.sqlIdentifier).joined(separator: ", ")))
            SELECT \(bind: driver.run), \(bind: time), \(table.rowID == nil ? "NULL" : "b.k0"), \(shape.columns.count)
            """
        try driver.execute(
            """
            \(insertion),
                CASE WHEN b.is_new THEN 'insert' WHEN \(isThere)\(keepsKey) THEN 'update' ELSE 'delete' END,
                CASE WHEN \(isThere)\(keepsKey) THEN \(shape.digest(ofStored: "m")) END, \(old)
            FROM \(rows)
            WHERE CASE WHEN b.is_new THEN \(isThere) ELSE NOT (\(isThere)) OR \(differs.joinedConditions("OR")) END
            """)
        guard !isRenamed.isEmpty else { return }
        let new = values { column, _ in identity.contains(column.name) ? "m.\(column.sql)" : "NULL" }
        try driver.execute(
            "\(insertion), 'insert', \(shape.digest(ofStored: "m")), \(new) FROM \(rows) WHERE \(hasNewKey)")
    }
}
