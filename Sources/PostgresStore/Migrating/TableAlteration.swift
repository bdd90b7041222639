import FeedModel
import FeedStaging
import FeedStores

/// The statements that make a table match its declaration, and keep its rows.
struct TableAlteration {
    let migration: TableMigration
    private let table: StoredTable
    private let detaching: [String]
    private let conversions: [(column: TableMigration.Column, source: String, statement: String)]
    private let added: [String]
    private let adding: [String]
    private let keys: [String]
    private let attaching: [String]

    /// - Parameter all: the tables that are declared together, one definition for each.
    /// - Returns: nil if the table is as declared, or does not exist.
    /// - Throws: ``StoreError`` if rows of another table hold the key that is to change.
    init?(_ definition: TableSchema, among all: [TableSchema], _ connection: PostgresConnection) throws {
        guard let table = try Catalog(connection).table(definition.name) else { return nil }
        self.table = table
        conversions = definition.columns.compactMap { column in
            guard let type = ColumnType(column), let found = table.column(column.name),
                table.hasOtherType(than: column)
            else { return nil }
            let source = Self.source(of: found, for: type)
            return (
                TableMigration.Column(name: found.name, from: found.type, to: type.sql), source,
                Self.conversion(of: found.sql, of: table.sql, to: type.sql, source)
            )
        }
        let isOtherKey =
            !definition.key.isEmpty && table.collations(ofKey: definition.key) == nil
            && definition.key.allSatisfy { table.column($0) != nil || definition.has($0) }
        added = isOtherKey ? definition.key.filter { table.column($0) == nil } : []
        let key = isOtherKey ? definition.key.map { table.column($0)?.name ?? $0 } : []
        // A key that the store generates stays.
        let replacesKey = try isOtherKey && Self.replacesKey(of: table, definition, connection)
        let keyCount = replacesKey ? (added.isEmpty ? key.count : 0) : table.primaryKey.count
        let isReferred = all.referred.contains(definition.name.lowercased())
        let hasHistory =
            try (isOtherKey || !conversions.isEmpty)
            && HistoryShape(PostgresHistories(connection: connection), of: table) != nil
        // Rows without a value in the new key need another one for their history.
        let needsIdentity =
            replacesKey && !added.isEmpty && (definition.keepsHistory || hasHistory)
            && !table.uniquenesses.contains { key in
                !key.isPrimary && key.isPlain
                    && key.columns.allSatisfy { table.column($0)?.isNotNull == true && definition.has($0) }
            }
        let number =
            isReferred && keyCount != 1 || needsIdentity
            ? definition.generatedKeyName(existingColumns: table.columns.map(\.name)) : nil
        guard !conversions.isEmpty || isOtherKey || number != nil else { return nil }
        if replacesKey || number != nil, let holder = try Self.holder(of: table, connection) {
            throw TableMigration.refusal(of: table.name, key: table.primaryKey, heldBy: holder.table, holder.columns)
        }
        let changed = conversions.map(\.column)
        let references = try Self.references(to: table, changed, connection)
        let versions = try ColumnDependents(connection: connection).check(
            changed.map { (table.id, $0.name) } + references.flatMap(\.columns))
        detaching =
            versions.map { "DROP VIEW \($0)" }
            + references.map { "ALTER TABLE \($0.child) DROP CONSTRAINT \($0.name.postgresIdentifier)" }
        attaching =
            references.flatMap(\.conversions)
            + references.map { "ALTER TABLE \($0.child) ADD CONSTRAINT \($0.name.postgresIdentifier) \($0.definition)" }
        let creation = TableCreation(connection: connection, definitions: all)
        adding = try added.flatMap { try Self.adding($0, to: table, definition, creation) }
        keys = try Self.keys(
            key, of: table, definition, replaces: replacesKey, isNew: !added.isEmpty, number: number, connection)
        migration = TableMigration(
            table: table.name, columns: changed, key: key, added: added, scope: added.filter(definition.isScope),
            number: number,
            endsHistory: !changed.isEmpty && hasHistory,
            statements: ["BEGIN"] + detaching + conversions.map(\.statement) + adding + keys + attaching + ["COMMIT"])
    }

    /// Changes the table.
    ///
    /// - Throws: ``StoreError`` naming a value or rows that are in the way, `PostgresError` for all else.
    func run(_ connection: PostgresConnection) throws {
        try connection.execute("LOCK TABLE \(table.sql) IN ACCESS EXCLUSIVE MODE")
        let before = try count(connection)
        for statement in detaching { try connection.execute(statement) }
        for conversion in conversions {
            do {
                try connection.inSavepoint { _ = try connection.execute(conversion.statement) }
            } catch let error as PostgresError where error.isAboutRows {
                try findRefused(conversion.column, conversion.source, connection)
                throw error
            }
        }
        for statement in adding { try connection.execute(statement) }
        // Rows have no value in a new column, and so no key yet.
        if !migration.key.isEmpty, added.isEmpty {
            try checkKey(connection)
            // A history of other types ends with the next commit.
            if conversions.isEmpty {
                try HistoryShape(PostgresHistories(connection: connection), of: table)?.complete(
                    migration.key, connection)
            }
        }
        for statement in keys + attaching { try connection.execute(statement) }
        guard try count(connection) == before else {
            throw StoreError(.database, "table '\(table.name)': rows were lost; nothing was changed")
        }
    }

    private func count(_ connection: PostgresConnection) throws -> Int {
        try connection.execute("SELECT count(*) FROM \(table.sql)")[0].int(0) ?? 0
    }

    // MARK: - What is in the way

    /// - Throws: ``StoreError`` naming the first row with a value that does not convert.
    private func findRefused(
        _ column: TableMigration.Column, _ source: String, _ connection: PostgresConnection
    ) throws {
        try connection.executeScript(
            """
            CREATE OR REPLACE FUNCTION pg_temp.tributary_converts(value text) RETURNS boolean LANGUAGE plpgsql AS $$
            BEGIN PERFORM value::\(column.to); RETURN true;
            EXCEPTION WHEN data_exception THEN RETURN false; END $$
            """)
        let name = column.name.postgresIdentifier
        let shown =
            table.primaryKey.isEmpty ? "ctid" : table.primaryKey.map(\.postgresIdentifier).joined(separator: ", ")
        let found = try connection.execute(
            """
            SELECT quote_literal(\(name)), ROW(\(shown))::text FROM \(table.sql)
            WHERE \(name) IS NOT NULL AND NOT pg_temp.tributary_converts(\(source)) LIMIT 1
            """)
        guard let row = found.first else { return }
        throw migration.refusal(
            of: row.string(0) ?? "", in: column,
            "(\(table.primaryKey.isEmpty ? "ctid" : table.primaryKey.joined(separator: ", "))) = \(row.string(1) ?? "")"
        )
    }

    private func checkKey(_ connection: PostgresConnection) throws {
        let columns = migration.key.map(\.postgresIdentifier).joined(separator: ", ")
        let isThere = migration.key.map { "\($0.postgresIdentifier) IS NOT NULL" }.joined(separator: " AND ")
        let twins = try connection.execute(
            """
            SELECT count(*), ROW(\(columns))::text FROM \(table.sql) WHERE \(isThere)
            GROUP BY \(columns) HAVING count(*) > 1 LIMIT 1
            """)
        if let row = twins.first {
            throw migration.collision(
                try row.int(0) ?? 0, "(\(migration.key.joined(separator: ", "))) = \(row.string(1) ?? "")")
        }
    }

    // MARK: - Statements

    private static func conversion(of column: String, of table: String, to type: String, _ source: String) -> String {
        "ALTER TABLE \(table) ALTER COLUMN \(column) TYPE \(type) USING (\(source))::\(type)"
    }

    /// Returns the text from which a value of another type is read.
    private static func source(of column: StoredTable.Column, for type: ColumnType) -> String {
        if column.category == "B", type != .boolean, type != .text { return "\(column.sql)::integer::text" }
        if column.typeName == "bytea" { return "convert_from(\(column.sql), 'UTF8')" }
        return "\(column.sql)::text"
    }

    private struct Reference {
        var child: String
        var name: String
        var definition: String
        /// The child's columns that get new types, with its id.
        var columns: [(table: TableID, name: String)]
        /// The statements that give the child's columns the new types.
        var conversions: [String]
    }

    /// Returns the foreign keys that refer to columns whose types change.
    private static func references(
        to table: StoredTable, _ changed: [TableMigration.Column], _ connection: PostgresConnection
    ) throws -> [Reference] {
        guard !changed.isEmpty else { return [] }
        func names(_ relation: String, _ numbers: String) -> String {
            """
            ARRAY(SELECT a.attname::text FROM unnest(\(numbers)) WITH ORDINALITY u (number, n)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = \(relation) AND a.attnum = u.number ORDER BY u.n)
            """
        }
        return try connection.execute(
            """
            SELECT k.conrelid::regclass::text, k.conname, pg_get_constraintdef(k.oid),
                \(names("k.conrelid", "k.conkey")), \(names("k.confrelid", "k.confkey")), k.conrelid
            FROM pg_catalog.pg_constraint k WHERE k.contype = 'f' AND k.confrelid = \(table.id) AND k.conparentid = 0
            ORDER BY k.oid
            """
        ).compactMap { row in
            let child = row.string(0) ?? ""
            let columns = (try row.stringArray(3) ?? []).compactMap(\.self)
            let targets = (try row.stringArray(4) ?? []).compactMap(\.self)
            let referring = zip(columns, targets).compactMap { column, target in
                changed.first { $0.name == target }.map { (column: column, type: $0.to) }
            }
            guard !referring.isEmpty else { return nil }
            let id = row.string(5) ?? ""
            return Reference(
                child: child, name: row.string(1) ?? "", definition: row.string(2) ?? "",
                columns: referring.map { (id, $0.column) },
                conversions: referring.map { column, type in
                    let name = column.postgresIdentifier
                    return conversion(of: name, of: child, to: type, "\(name)::text")
                })
        }
    }

    /// Returns the statements that add a column of the key.
    private static func adding(
        _ name: String, to table: StoredTable, _ definition: TableSchema, _ creation: TableCreation
    ) throws -> [String] {
        let column = definition.columns.first { $0.name.lowercased() == name.lowercased() }
        let type = try column.map { try creation.type(of: $0) } ?? "text"
        let addition = "ALTER TABLE \(table.sql) ADD COLUMN \(name.sqlIdentifier) \(type)"
        let other = try column?.references.flatMap { try Catalog(creation.connection).table($0) }
        return [addition]
            + (other.map {
                ["ALTER TABLE \(table.sql) ADD FOREIGN KEY (\(name.sqlIdentifier)) REFERENCES \($0.sql) DEFERRABLE"]
            } ?? [])
    }

    /// Returns true if the primary key is replaced: there is none, the declaration has all its columns, or a column of
    /// it that the declaration lacks has no default value.
    private static func replacesKey(
        of table: StoredTable, _ definition: TableSchema, _ connection: PostgresConnection
    ) throws -> Bool {
        let lacking = table.primaryKey.compactMap { table.column($0) }.filter { !definition.has($0.name) }
        if lacking.isEmpty { return true }
        let filled = try connection.execute(
            "SELECT attname FROM pg_catalog.pg_attribute WHERE attrelid = \(table.id) AND (atthasdef OR attidentity <> '')"
        ).compactMap { $0.string(0) }
        return !lacking.allSatisfy { filled.contains($0.name) }
    }

    /// Returns a table whose foreign key refers to the primary key of a table; nil for none.
    private static func holder(
        of table: StoredTable, _ connection: PostgresConnection
    ) throws -> (table: String, columns: [String])? {
        try connection.execute(
            """
            SELECT k.conrelid::regclass::text,
                ARRAY(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY u (number, n)
                    JOIN pg_catalog.pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = u.number ORDER BY u.n)
            FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_constraint p ON p.conrelid = k.confrelid AND p.contype = 'p'
                AND p.conindid = k.conindid
            WHERE k.contype = 'f' AND k.confrelid = \(table.id) ORDER BY k.oid LIMIT 1
            """
        ).first.map { row in
            (row.string(0) ?? "", (try row.stringArray(1) ?? []).compactMap(\.self))
        }
    }

    /// Returns the statements that replace the key.
    ///
    /// - Parameters:
    ///   - key: the new key; empty if it stays.
    ///   - replaces: true if the primary key is replaced.
    ///   - isNew: true if the table gets a column of the key, which is NULL in the existing rows.
    ///   - number: a column that numbers the rows, for a new primary key.
    private static func keys(
        _ key: [String], of table: StoredTable, _ definition: TableSchema, replaces: Bool, isNew: Bool,
        number: String?, _ connection: PostgresConnection
    ) throws -> [String] {
        guard !key.isEmpty || number != nil else { return [] }
        func constraints(_ type: String) throws -> [String] {
            try connection.execute(
                "SELECT conname FROM pg_catalog.pg_constraint WHERE conrelid = \(table.id) AND contype = '\(type)'"
            ).compactMap { $0.string(0) }
        }
        let unique = try constraints("u")
        let isUniqueReplaced = !replaces && number == nil && definition.needsGeneratedKey && unique.count == 1
        let dropped = try replaces || number != nil ? constraints("p") : isUniqueReplaced ? unique : []
        var statements = dropped.map { "ALTER TABLE \(table.sql) DROP CONSTRAINT \($0.postgresIdentifier)" }
        if !key.isEmpty {
            // Columns that no feed has any more.
            let former = Set(table.primaryKey + table.uniquenesses.flatMap(\.columns)).filter { !definition.has($0) }
            let stays = replaces || number != nil ? [] : table.primaryKey
            let notNull = former.subtracting(stays).compactMap { table.column($0) }.filter(\.isNotNull)
            statements += notNull.sorted { $0.name < $1.name }.map {
                "ALTER TABLE \(table.sql) ALTER COLUMN \($0.sql) DROP NOT NULL"
            }
        }
        if let number {
            statements.append(
                "ALTER TABLE \(table.sql) ADD COLUMN \(number.sqlIdentifier) bigint GENERATED BY DEFAULT AS IDENTITY "
                    + "PRIMARY KEY")
        }
        let covered = key.isEmpty ? table.primaryKey : key
        let columns = covered.map(\.postgresIdentifier).joined(separator: ", ")
        if !columns.isEmpty {
            let isPrimary = replaces && !isNew && number == nil
            statements.append("ALTER TABLE \(table.sql) ADD \(isPrimary ? "PRIMARY KEY" : "UNIQUE") (\(columns))")
        }
        return statements
    }
}
