import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// How the history of a table names its rows, and which of the table's columns it keeps.
struct HistoryShape {
    var table: TableInfo
    /// The history's columns for those of the table, in the order in which it has got them. The table may have lost some.
    var columns: [String]
    /// The columns that now hold values of another type in the table.
    var retyped: [String] = []

    /// The columns that tell a row from all others at any time; none where only its row id does.
    var identity: [String] { table.lastingKey }

    /// The name of a history that has ended, as a column of the table got another type; nil for the one that goes on.
    var former: String?

    var name: String { former ?? HistoryTable.name(of: table.name) }
    var sql: String { "main.\(name.sqlIdentifier)" }

    /// Returns a condition that a row of the table is the one of an entry.
    func isRow(_ row: String, _ entry: String) -> String {
        guard !identity.isEmpty else { return "\(row).\(table.rowID ?? "rowid") = \(entry).\(HistoryTable.row)" }
        return identity.map(\.sqlIdentifier).map { "\(row).\($0) = \(entry).\($0)" }.joinedConditions("AND")
    }

    /// Returns true where the history has columns, which the table may have got since.
    func has(_ names: [String]) -> Bool {
        let known = Set(columns.map { $0.lowercased() })
        return names.allSatisfy { known.contains($0.lowercased()) }
    }

    /// The columns by which entries of one row belong together.
    var groupColumns: [String] { identity.isEmpty ? [HistoryTable.row] : identity.map(\.sqlIdentifier) }

    func isStored(_ column: String) -> Bool { table.column(column)?.isGenerated == false }

    /// Returns an expression for the value of a column in a row of the table.
    func stored(_ column: String, in alias: String) -> String {
        isStored(column) ? "\(alias).\(column.sqlIdentifier)" : "NULL"
    }

    /// Returns an expression for the digest of a row of the table; NULL where an outer join has found none.
    func digest(ofStored alias: String, width: Int? = nil) -> String {
        let digest = Database.rowDigest(of: columns.prefix(width ?? columns.count).map { stored($0, in: alias) })
        return "CASE WHEN \(isThere(alias)) THEN \(digest) END"
    }

    /// Returns an expression for the digest of the row that an entry keeps; NULL where there was none.
    func digest(ofEntry alias: String, width: Int) -> String {
        let digest = Database.rowDigest(of: columns.prefix(width).map { "\(alias).\($0.sqlIdentifier)" })
        return "CASE WHEN \(alias).\(HistoryTable.operation) <> 'insert' THEN \(digest) END"
    }

    /// Returns a condition that the row of an outer join is there.
    func isThere(_ alias: String) -> String {
        table.rowID.map { "\(alias).\($0) IS NOT NULL" } ?? "\(alias).\(table.primaryKey[0].sqlIdentifier) IS NOT NULL"
    }
}

extension HistoryShape {
    /// Reads the shape of an existing history; nil where the table has none.
    ///
    /// - Parameter former: the name of one that has ended.
    init?(_ db: Database, of table: TableInfo, former: String? = nil) throws {
        let name = former ?? HistoryTable.name(of: table.name)
        let rows = try Row.fetchAll(db, sql: "PRAGMA main.table_xinfo(\(name.sqlIdentifier))")
        guard !rows.isEmpty else { return nil }
        self.table = table
        self.former = former
        let own = rows.dropFirst(HistoryTable.ownColumns.count)
        columns = own.map { $0["name"] }
        retyped = own.compactMap { row in
            let name: String = row["name"]
            let kept = Affinity(declaredType: row["type"], isStrict: table.isStrict).sqlType
            return table.column(name).map { !$0.isGenerated && $0.stagedType != kept } == true ? name : nil
        }
    }

    /// Creates the history of a table, or adds the columns that the table has gained.
    static func prepare(_ db: Database, for table: TableInfo) throws -> HistoryShape {
        let name = HistoryTable.name(of: table.name)
        let columns = table.columns.filter { !$0.isGenerated }
        if let shape = try HistoryShape(db, of: table), !shape.retyped.isEmpty {
            try shape.putAside(db)
        } else if let shape = try HistoryShape(db, of: table) {
            let known = Set(shape.columns.map { $0.lowercased() })
            let new = columns.filter { !known.contains($0.name.lowercased()) }
            guard !new.isEmpty else { return shape }
            for column in new {
                // Rows that were replaced before read as those of the table itself do.
                let value = try String.fetchOne(
                    db, sql: "SELECT dflt_value FROM pragma_table_xinfo(?, 'main') WHERE lower(name) = lower(?)",
                    arguments: [table.name, column.name])
                let constant = value.flatMap { $0.wholeMatch(of: Self.literal) == nil ? nil : " DEFAULT \($0)" } ?? ""
                try db.execute(
                    sql: """
                        ALTER TABLE main.\(name.sqlIdentifier)
                        ADD COLUMN \(column.name.sqlIdentifier) \(column.declaredType)\(constant)
                        """)
            }
            return try HistoryShape(db, of: table) ?? shape
        }
        let key = table.lastingKey
        let collations = table.collations(ofKey: key) ?? key.map { _ in "BINARY" }
        let definitions = columns.map { column -> String in
            let place = key.firstIndex { $0.lowercased() == column.name.lowercased() }
            let collation = place.map { " COLLATE \(collations[$0])" } ?? ""
            return "\(column.name.sqlIdentifier) \(column.declaredType)\(collation)"
        }
        try db.execute(
            sql: """
                CREATE TABLE main.\(name.sqlIdentifier) (
                    \(HistoryTable.id) INTEGER PRIMARY KEY, \(HistoryTable.run) INTEGER NOT NULL,
                    \(HistoryTable.operation) TEXT NOT NULL, \(HistoryTable.row) INTEGER,
                    \(HistoryTable.after) INTEGER, \(HistoryTable.width) INTEGER NOT NULL,
                    \(definitions.joined(separator: ", "))
                )\(table.isStrict ? " STRICT" : "");
                CREATE INDEX main.\(Self.runIndex(of: table)) ON \(name.sqlIdentifier) (\(HistoryTable.run));
                """)
        let shape = HistoryShape(table: table, columns: columns.map(\.name))
        try db.execute(
            sql: """
                CREATE INDEX main.\(Self.keyIndex(of: table))
                ON \(name.sqlIdentifier) (\(shape.groupColumns.joined(separator: ", ")))
                """)
        return shape
    }
}

extension HistoryShape {
    // Names that no table's history has.
    fileprivate static func runIndex(of table: TableInfo) -> String { "tributary_run_of_\(table.name)".sqlIdentifier }
    fileprivate static func keyIndex(of table: TableInfo) -> String { "tributary_key_of_\(table.name)".sqlIdentifier }

    /// Defaults that are the same for every row. `ALTER TABLE … ADD COLUMN` takes no others.
    fileprivate static var literal: Regex<Substring> {
        /'(?:[^']|'')*'|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?|NULL|TRUE|FALSE|[xX]'[0-9a-fA-F]*'/
    }

    /// Puts a history away whose values would not fit into the table any more. Nobody goes back over it.
    fileprivate func putAside(_ db: Database) throws {
        try db.execute(
            sql: "UPDATE main.tributary_run SET history = 0 WHERE id IN (SELECT \(HistoryTable.run) FROM \(sql))")
        var number = 1
        while try db.tableExists(HistoryTable.formerName(of: table.name, number), in: "main") { number += 1 }
        let former = HistoryTable.formerName(of: table.name, number)
        try db.execute(
            sql: """
                DROP INDEX main.\(Self.runIndex(of: table)); DROP INDEX main.\(Self.keyIndex(of: table));
                ALTER TABLE \(sql) RENAME TO \(former.sqlIdentifier);
                CREATE INDEX main.\("tributary_run_of_\(former)".sqlIdentifier) ON \(former.sqlIdentifier) (\(HistoryTable.run))
                """)
    }
}

extension TableInfo {
    /// The columns of the primary key, where none of them can be NULL; a row id may change when the store is copied.
    var lastingKey: [String] {
        let isThere = primaryKey.allSatisfy { column($0)?.isNotNull == true }
        return isThere || !hasRowID || generatedKey != nil ? primaryKey : []
    }
}
