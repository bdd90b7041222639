import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// A table that is created again as declared, with the rows, indexes and triggers of the old one.
struct TableRebuild {
    let migration: TableMigration
    private let info: StoredTable
    /// The mapping's words for the types of the columns that change.
    private let words: [String: String]
    /// The new statement, the copy and what follows it.
    private let creation: String
    private let copy: String
    private let rest: [String]
    private let new: String

    /// - Parameter all: the tables that are declared together, one definition for each.
    /// - Returns: nil if the table is as declared, or does not exist.
    /// - Throws: ``StoreError`` if rows of another table hold the key that is to change.
    init?(_ definition: TableSchema, among all: [TableSchema], _ db: Database) throws {
        guard let info = try StoredTable(db, table: definition.name, schema: "main") else { return nil }
        let changed = definition.columns.filter { info.hasOtherType(than: $0) }
        let columns = changed.compactMap { column in
            info.column(column.name).map {
                TableMigration.Column(name: $0.name, from: $0.type, to: column.type ?? "")
            }
        }
        let isOtherKey =
            !definition.key.isEmpty && info.collations(ofKey: definition.key) == nil
            && definition.key.allSatisfy { info.column($0) != nil || definition.has($0) }
        let isReferred = all.referred.contains(definition.name.lowercased())
        let added = isOtherKey ? definition.key.filter { info.column($0) == nil } : []
        let key = isOtherKey ? definition.key.map { info.column($0)?.name ?? $0 } : []
        // A key that the store generates stays.
        let isKeyMapped = info.primaryKey.allSatisfy(definition.has)
        let replacesKey =
            try isOtherKey && (info.primaryKey.isEmpty || isKeyMapped || Self.needsKey(info, definition, db))
        let keyCount = replacesKey ? (added.isEmpty ? key.count : 0) : info.primaryKey.count
        let needsNumber = isReferred && keyCount != 1
        guard !columns.isEmpty || isOtherKey || needsNumber else { return nil }
        if replacesKey || needsNumber, let holder = try Self.holder(of: info, keepsUnique: !replacesKey, db) {
            throw TableMigration.refusal(of: info.name, key: info.primaryKey, heldBy: holder.table, holder.columns)
        }
        guard let sql = try Self.sql(of: info, "table", db).first, var table = MadeTable(info, sql) else {
            let changes = TableMigration(table: info.name, columns: columns, key: key).changes
            throw StoreError(
                .schema,
                "table '\(info.name)' was not made by Tributary, and 'migrate' does not change it "
                    + "(\(changes.joined(separator: "; "))); nothing was changed",
                help: "make a table as declared, copy the rows, drop the former table, and give the new one its name")
        }
        let former = Set((info.primaryKey + info.uniqueIndexes.joined()).map { $0.lowercased() })
        for (index, column) in table.columns.enumerated() {
            if let new = columns.first(where: { $0.name == column.name }) { table.columns[index].type = new.to }
            // A column of the former key that no feed has any more.
            if isOtherKey, former.contains(column.name.lowercased()), !definition.has(column.name) {
                table.columns[index].isNotNull = false
            }
        }
        let declared = Dictionary(all.map { ($0.name.lowercased(), $0) }) { first, _ in first }
        table.columns += try added.map { name in
            var column =
                try definition.columns.first { $0.name.lowercased() == name.lowercased() }
                .map { try db.made($0, among: declared) } ?? MadeTable.Column(name: name, type: "TEXT")
            column.isNotNull = false
            return column
        }
        let list = key.map(\.sqlIdentifier).joined(separator: ", ")
        var indexes: [String] = []
        let number = needsNumber ? definition.generatedKeyName(existingColumns: info.columns.map(\.name)) : nil
        if replacesKey || needsNumber {
            if let former = table.number {
                table.columns.insert(MadeTable.Column(name: former, type: "INTEGER"), at: 0)
            }
            table.number = number
            table.primaryKey = []
        }
        if number != nil {
            let unique = isOtherKey ? key : info.primaryKey
            if !unique.isEmpty { table.unique = unique }
        } else if replacesKey, added.isEmpty {
            table.primaryKey = key
            // A number is a value of the feed, and none that SQLite gives.
            for index in table.columns.indices
            where [table.columns[index].name] == key && table.columns[index].type.uppercased() == "INTEGER" {
                table.columns[index].isNotNull = true
            }
        } else if replacesKey || isOtherKey && definition.needsGeneratedKey && !table.unique.isEmpty {
            // The existing rows have no value in an added column, which a primary key of one integer would give them. A key
            // that the store generates stays.
            table.unique = key
        } else if isOtherKey {
            indexes = [
                "CREATE UNIQUE INDEX \("\(info.name)_key".sqlIdentifier) ON \(info.name.sqlIdentifier) (\(list))"
            ]
        }
        self.info = info
        words = changed.reduce(into: [:]) { $0[$1.name.lowercased()] = $1.word }
        new = "tributary_new_\(info.name)".sqlIdentifier
        creation = "CREATE TABLE main.\(new) \(table.sql)"
        let newKey = key.isEmpty ? info.primaryKey : key
        let keyType = newKey.first.flatMap { name in
            columns.first { $0.name == name }?.to ?? info.column(name)?.type
        }
        let isRowID =
            number != nil || newKey.count == 1 && added.isEmpty && keyType?.uppercased() == "INTEGER"
        // The changelog names rows without a key by their row ids.
        let rowID = isRowID ? [] : info.rowID.map { [$0] } ?? []
        let names = info.columns.map(\.name)
        let words = words
        let values = names.map { name in
            columns.contains { $0.name == name }
                ? Self.converted(name, words[name.lowercased()], columns.first { $0.name == name }?.to)
                : name.sqlIdentifier
        }
        copy = """
            INSERT INTO main.\(new) (\((rowID + names.map(\.sqlIdentifier)).joined(separator: ", ")))
            SELECT \((rowID + values).joined(separator: ", ")) FROM main.\(info.name.sqlIdentifier)
            """
        rest =
            [
                "DROP TABLE main.\(info.name.sqlIdentifier)",
                "ALTER TABLE main.\(new) RENAME TO \(info.name.sqlIdentifier)",
            ]
            + (try Self.sql(of: info, "index", db)) + (try Self.sql(of: info, "trigger", db)) + indexes
        migration = TableMigration(
            table: info.name, columns: columns, key: key, added: added, scope: added.filter(definition.isScope),
            number: number,
            endsHistory: try !columns.isEmpty && db.tableExists(HistoryTable.name(of: info.name), in: "main"),
            statements: [
                "PRAGMA foreign_keys = OFF", "PRAGMA legacy_alter_table = ON", "BEGIN IMMEDIATE", creation, copy,
            ]
                + rest + ["PRAGMA foreign_key_check", "COMMIT"])
    }

    /// Creates the table again.
    ///
    /// - Throws: ``StoreError`` naming a value or rows that do not fit.
    func run(_ db: Database) throws {
        try check(db)
        try db.execute(sql: creation)
        try db.execute(sql: copy)
        let counts = try [info.name.sqlIdentifier, new].map { name in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM main.\(name)") ?? 0
        }
        guard counts[0] == counts[1] else {
            throw StoreError(
                .database, "table '\(info.name)': \(counts[1]) of \(counts[0]) rows were copied; nothing was changed")
        }
        for statement in rest { try db.execute(sql: statement) }
    }

    // MARK: - What is in the way

    /// Converts the values in a table beside it.
    private func check(_ db: Database) throws {
        // Rows have no value in a new column, and so no key yet.
        let newKey = migration.added.isEmpty ? migration.key : []
        let key = migration.key.isEmpty ? info.primaryKey : newKey
        let changed = Set(migration.columns.map(\.name))
        let names = migration.columns.map(\.name) + key.filter { !changed.contains($0) }
        let definitions = names.enumerated().map { index, name in
            let type = migration.columns.first { $0.name == name }?.to ?? info.column(name)?.type ?? ""
            return "c\(index) \(type)"
        }
        let located = info.locator.indices.map { "l\($0)" }
        let values = names.map { name in
            changed.contains(name)
                ? Self.converted(
                    name, words[name.lowercased()], migration.columns.first { $0.name == name }?.to)
                : name.sqlIdentifier
        }
        try db.execute(
            sql: """
                CREATE TEMP TABLE tributary_converted (\((located + definitions).joined(separator: ", ")));
                INSERT INTO temp.tributary_converted
                SELECT \((info.locator.map(\.sql) + values).joined(separator: ", ")) FROM main.\(info.name.sqlIdentifier)
                """)
        defer { try? db.execute(sql: "DROP TABLE IF EXISTS temp.tributary_converted") }
        let isRow = zip(info.locator, located).map { "m.\($0.sql) IS c.\($1)" }.joined(separator: " AND ")
        for (index, column) in migration.columns.enumerated() {
            let isTaken = Self.isTaken("c.c\(index)", column.to, words[column.name.lowercased()])
            let refused = try Row.fetchOne(
                db,
                sql: """
                    SELECT quote(m.\(column.name.sqlIdentifier)), m.* FROM temp.tributary_converted c
                    JOIN main.\(info.name.sqlIdentifier) m ON \(isRow)
                    WHERE c.c\(index) IS NOT NULL AND NOT (\(isTaken)) LIMIT 1
                    """)
            guard let refused else { continue }
            throw migration.refusal(of: refused[0], in: column, describe(refused.dropFirst()))
        }
        guard !key.isEmpty else { return }
        let keys = key.compactMap { name in names.firstIndex(of: name).map { "c\($0)" } }
        let shown = zip(key, keys).map { "\($1) AS \($0.sqlIdentifier)" }.joined(separator: ", ")
        let twins = try Row.fetchOne(
            db,
            sql: """
                SELECT count(*), \(shown) FROM temp.tributary_converted
                WHERE \(keys.map { "\($0) IS NOT NULL" }.joined(separator: " AND "))
                GROUP BY \(keys.joined(separator: ", ")) HAVING count(*) > 1 LIMIT 1
                """)
        if let twins {
            throw migration.collision(twins[0], describe(twins.dropFirst()))
        }
    }

    /// Returns an expression for a column's value in the form in which a mapping would store it.
    private static func converted(_ column: String, _ word: String?, _ type: String?) -> String {
        let value = column.sqlIdentifier
        if word == "boolean" { return "CASE lower(\(value)) WHEN 'true' THEN 1 WHEN 'false' THEN 0 ELSE \(value) END" }
        if type?.uppercased() == "TEXT" {
            return "CASE typeof(\(value)) WHEN 'real' THEN \(shortest(value)) ELSE \(value) END"
        }
        if type?.uppercased() == "BLOB" { return "CAST(\(value) AS BLOB)" }
        guard type == "" else { return value }
        // As far as a number keeps all digits.
        return "CASE WHEN typeof(\(value)) = 'text' AND length(\(value)) < 16 AND \(isNumeric(value)) "
            + "THEN CAST(\(value) AS NUMERIC) "
            + "WHEN typeof(\(value)) = 'real' AND abs(\(value)) < 1e15 AND \(value) = CAST(\(value) AS INTEGER) "
            + "THEN CAST(\(value) AS INTEGER) ELSE \(value) END"
    }

    /// Returns an expression for the shortest text that reads as the same number. SQLite's own text has 15 digits.
    private static func shortest(_ value: String) -> String {
        let texts = [15, 16, 17].map { "printf('%!.\($0)g', \(value))" }
        return "CASE \(value) WHEN CAST(\(texts[0]) AS REAL) THEN \(texts[0]) "
            + "WHEN CAST(\(texts[1]) AS REAL) THEN \(texts[1]) ELSE \(texts[2]) END"
    }

    private static func isNumeric(_ value: String) -> String {
        "(\(value) GLOB '*[0-9]*' AND ltrim(\(value), '+-') NOT GLOB '*[^0-9.]*')"
    }

    /// Returns the condition that a converted value is of a type.
    private static func isTaken(_ value: String, _ type: String, _ word: String?) -> String {
        let day = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"
        return switch (type, word) {
        case (_, "boolean"): "\(value) IN (0, 1)"
        case ("TEXT", "date"): "\(value) GLOB '\(day)'"
        case ("TEXT", "datetime"): "\(value) GLOB '\(day)T*'"
        case ("TEXT", _): "typeof(\(value)) = 'text'"
        case ("INTEGER", _): "typeof(\(value)) = 'integer'"
        case ("REAL", _): "typeof(\(value)) = 'real'"
        case ("BLOB", _): "typeof(\(value)) = 'blob'"
        default: "typeof(\(value)) IN ('integer', 'real') OR typeof(\(value)) = 'text' AND \(isNumeric(value))"
        }
    }

    /// Returns true if a row needs a value in a column of the primary key to which the declaration gives none.
    private static func needsKey(_ table: StoredTable, _ definition: TableSchema, _ db: Database) throws -> Bool {
        let needed = try String.fetchAll(
            db,
            sql: "SELECT name FROM pragma_table_info(?, 'main') WHERE pk > 0 AND \"notnull\" AND dflt_value IS NULL",
            arguments: [table.name])
        return needed.contains { $0 != table.generatedKey && !definition.has($0) }
    }

    /// Returns a table whose foreign key refers to the primary key of a table; nil for none.
    ///
    /// - Parameter keepsUnique: true if the key's columns stay unique, so that a foreign key that names them may refer
    ///   to them.
    private static func holder(
        of table: StoredTable, keepsUnique: Bool, _ db: Database
    ) throws -> (table: String, columns: [String])? {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT t.name AS child, f.id AS id, f."from" AS "from", f."to" AS "to"
                FROM pragma_table_list t CROSS JOIN pragma_foreign_key_list(t.name, 'main') f
                WHERE t.schema = 'main' AND t.type = 'table' AND f."table" = ? COLLATE NOCASE ORDER BY t.name, f.id, f.seq
                """, arguments: [table.name])
        let key = Set(table.primaryKey.map { $0.lowercased() })
        let isOther = { (target: [String]) in
            !target.isEmpty && (keepsUnique || Set(target.map { $0.lowercased() }) != key)
        }
        for (_, parts) in Dictionary(grouping: rows, by: { "\($0["child"] as String) \($0["id"] as Int)" })
            .sorted(by: { $0.key < $1.key })
        where !isOther(parts.compactMap { $0["to"] as String? }) {
            return (parts[0]["child"], parts.map { $0["from"] })
        }
        return nil
    }

    private static func sql(of table: StoredTable, _ type: String, _ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT sql FROM main.sqlite_schema
                WHERE type = ? AND tbl_name = ? COLLATE NOCASE AND sql IS NOT NULL ORDER BY rowid
                """, arguments: [type, table.name])
    }
}

extension StoredTable {
    /// Returns true if a column of the table does not keep the values that a declaration gives it.
    func hasOtherType(than column: TableSchema.Column) -> Bool {
        guard let type = column.type, column.isDeclared, let found = self.column(column.name), !found.isGenerated
        else { return false }
        return !(isStrict && found.type.uppercased() == "ANY")
            && !Affinity(declaredType: found.type).holds(type, declaredType: found.type)
    }
}
