package import FeedModel
package import FeedStaging
import GRDB

/// Tables that mappings declare.
extension SQLiteStore {
    /// Creates missing tables, adds new columns, and compares existing ones with the definitions.
    ///
    /// - Throws: ``StoreError`` naming each column whose type, and each table whose key, is not as declared.
    @discardableResult
    package func prepareTables(_ definitions: [TableSchema]) throws -> [SchemaAddition] {
        guard !definitions.isEmpty else { return [] }
        try definitions.checkWidths(most: StoredTable.maximumColumns)
        var made: [SchemaAddition] = []
        do {
            try tableInfos.ensure(.tables(definitions.map(\.undeclared)), in: pool) {
                if try !isPrepared(for: definitions) {
                    // What cannot be used is not made.
                    try refuse(
                        differences(from: definitions)
                            + definitions.referenceMistakes(isMade: true) { try presentTable($0)?.primaryKey })
                    let all = Dictionary(definitions.map { ($0.name.lowercased(), $0) }) { first, _ in first }
                    made = try pool.write { db in
                        let made = try definitions.flatMap { try db.prepare($0, among: all) }
                        // What was made for a table of this name went with it.
                        try db.execute(sql: "DELETE FROM main.tributary_schema")
                        return made
                    }
                }
                do { try refuse(differences(from: definitions)) } catch {
                    try remove(made)
                    throw error
                }
            }
            return made
        } catch let error as DatabaseError {
            throw StoreError(
                .schema, "the tables that mappings declare cannot be created: \(error.message ?? "\(error)")")
        }
    }

    package func remove(_ additions: [SchemaAddition]) throws {
        guard !additions.isEmpty else { return }
        try writing {
            try pool.write { db in
                for addition in additions.reversed() {
                    guard let info = try StoredTable(db, table: addition.table, schema: "main") else { continue }
                    let table = "main.\(info.name.sqlIdentifier)"
                    if let column = addition.column.flatMap(info.column) {
                        let name = column.name.sqlIdentifier
                        let hasValues = "SELECT EXISTS (SELECT 1 FROM \(table) WHERE \(name) IS NOT NULL)"
                        guard try Bool.fetchOne(db, sql: hasValues) == false else { continue }
                        try db.execute(sql: "ALTER TABLE \(table) DROP COLUMN \(name)")
                    } else if addition.column == nil, try !db.hasRows(info.name) {
                        try db.execute(sql: "DROP TABLE \(table)")
                    }
                }
            }
        }
    }

    /// - Throws: ``StoreError`` with the mistakes, if there are any.
    private func refuse(_ mistakes: [Mistake]) throws { if !mistakes.isEmpty { throw StoreError(mistakes) } }

    package func presentTable(_ name: String) throws -> StoredTable? {
        try pool.unsafeRead { try tableInfos.info(of: name, in: $0) }
    }

    /// Returns true if every table exists, with every column.
    package func isPrepared(for definitions: [TableSchema]) throws -> Bool {
        try pool.unsafeRead { db in
            try definitions.allSatisfy { definition in
                guard let info = try tableInfos.info(of: definition.name, in: db) else { return false }
                return definition.columns.allSatisfy { info.column($0.name) != nil }
            }
        }
    }

    /// Runs a parser's schema if one of its tables does not exist. Adds columns that a later version of it has to
    /// existing tables.
    package func prepare(schema: String, tables: [String]) throws {
        do {
            try tableInfos.ensure(.sql(schema), in: pool) {
                let isMissing = try !missingTables(among: Set(tables)).isEmpty
                guard try tables.isEmpty || isMissing || !newColumns(schema: schema, tables: tables).isEmpty else {
                    return
                }
                // Two processes may open a store of the former version at once.
                let lock = try RunLock(schemaOf: path)
                defer { lock?.unlock() }
                // Columns first: indexes and views of the schema may name them.
                let columns = try newColumns(schema: schema, tables: tables)
                try pool.write { db in
                    for (table, column) in columns {
                        try db.execute(
                            sql: "ALTER TABLE \(table.sqlIdentifier) ADD COLUMN \(column.name.sqlIdentifier) "
                                + column.type)
                    }
                    try db.execute(sql: schema)
                }
            }
        } catch let error as DatabaseError {
            throw StoreError(.schema, "the tables of the parser cannot be created: \(error.message ?? "\(error)")")
        }
    }

    /// Returns true if every table of a parser exists, with every column that its schema gives it.
    package func isPrepared(schema: String, tables: [String]) throws -> Bool {
        guard try missingTables(among: Set(tables)).isEmpty else { return false }
        return try newColumns(schema: schema, tables: tables).isEmpty
    }

    /// Returns the columns that a parser's schema gives to its tables, and that the existing tables lack.
    private func newColumns(
        schema: String, tables: [String]
    ) throws -> [(table: String, column: StoredTable.Column)] {
        let declared = try DatabaseQueue()
        // The author keeps a schema that depends on other tables than its own up to date.
        guard (try? declared.write { try $0.execute(sql: schema) }) != nil else { return [] }
        return try tables.flatMap { table in
            guard let new = try declared.read({ try StoredTable($0, table: table, schema: "main") }),
                let old = try pool.read({ try StoredTable($0, table: table, schema: "main") })
            else { return [(table: String, column: StoredTable.Column)]() }
            return new.columns.filter { !$0.isGenerated && old.column($0.name) == nil }.map { (old.name, $0) }
        }
    }

    /// Returns every table except Tributary's and SQLite's own.
    package func tables() throws -> [StoredTable] {
        try reading {
            try pool.read { db in
                let names = try String.fetchAll(
                    db,
                    sql: """
                        SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
                        AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'tributary\\_%' ESCAPE '\\'
                        AND name <> 'grdb_migrations' ORDER BY name
                        """)
                let list = try TableList(db, schema: "main")
                return try names.compactMap { try StoredTable(db, table: $0, schema: "main", in: list) }
            }
        }
    }

    /// - Throws: ``StoreError`` naming a view that cannot be read.
    package func checkViews() throws {
        try pool.read { db in
            for view in try String.fetchAll(db, sql: "SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")
            {
                do {
                    _ = try db.makeStatement(sql: "SELECT * FROM \(view.sqlIdentifier)")
                } catch let error as DatabaseError {
                    throw StoreError(.schema, "the view '\(view)' cannot be read: \(error.message ?? "\(error)")")
                }
            }
        }
    }

    /// Returns the mistakes of declarations from which existing tables differ.
    package func differences(from definitions: [TableSchema]) throws -> [Mistake] {
        try pool.unsafeRead { db in
            try definitions.flatMap { try tableInfos.info(of: $0.name, in: db)?.differences(from: $0) ?? [] }
                + definitions.referenceMistakes(isMade: false) { try tableInfos.info(of: $0, in: db)?.primaryKey }
        }
    }

    /// - Throws: ``StoreError`` naming each reference whose table or column does not exist, or cannot be referred to.
    package func checkReferences(_ references: [ReferenceDefinition]) throws {
        guard !references.isEmpty else { return }
        try tableInfos.ensure(.references(references), in: pool) {
            let mistakes = try pool.read { db in try references.compactMap { try db.mistake(in: $0) } }
            guard mistakes.isEmpty else { throw StoreError(mistakes) }
        }
    }
}

extension Database {
    fileprivate func mistake(in reference: ReferenceDefinition) throws -> Mistake? {
        guard let info = try StoredTable(self, table: reference.table, schema: "main") else {
            return reference.mistakeOfTable
        }
        return reference.mistake(
            in: info.name, info.columns.map(\.name), hasColumn: { info.column($0) != nil },
            isKeyOneColumn: info.primaryKey.count == 1,
            isUnique: { info.collations(ofKey: [reference.column]) != nil },
            index: {
                "CREATE UNIQUE INDEX \(info.name)_\(reference.column) ON \(info.name.sqlIdentifier) "
                    + "(\(reference.column.sqlIdentifier))"
            })
    }

    /// - Parameter all: the tables that are declared together, by their names in lower case.
    /// - Returns: what was made.
    fileprivate func prepare(_ definition: TableSchema, among all: [String: TableSchema]) throws -> [SchemaAddition] {
        let name = definition.name.sqlIdentifier
        guard let info = try StoredTable(self, table: definition.name, schema: "main") else {
            let mapped = Set(definition.columns.map { $0.name.lowercased() })
            let others = definition.scope.filter { !mapped.contains($0.lowercased()) }
            var table = MadeTable(
                number: definition.needsGeneratedKey ? definition.generatedKeyName() : nil,
                columns: try definition.columns.map { try made($0, among: all) }
                    + others.map { MadeTable.Column(name: $0, type: "TEXT") })
            let key = Set(definition.key.map { $0.lowercased() })
            for index in table.columns.indices where key.contains(table.columns[index].name.lowercased()) {
                table.columns[index].isNotNull = true
            }
            if definition.needsGeneratedKey { table.unique = definition.key } else { table.primaryKey = definition.key }
            try execute(sql: "CREATE TABLE \(name) \(table.sql)")
            for columns in definition.indexes {
                // The key's own index begins with these.
                if zip(columns, definition.key).allSatisfy({ $0.lowercased() == $1.lowercased() }),
                    columns.count <= definition.key.count
                {
                    continue
                }
                let index = ([definition.name] + columns).joined(separator: "_").sqlIdentifier
                let list = columns.map(\.sqlIdentifier).joined(separator: ", ")
                try execute(sql: "CREATE INDEX IF NOT EXISTS \(index) ON \(name) (\(list))")
            }
            if let gone = definition.gone, !definition.presentIndex.isEmpty {
                let list = definition.presentIndex.map(\.sqlIdentifier).joined(separator: ", ")
                try execute(
                    sql:
                        "CREATE INDEX IF NOT EXISTS \("\(definition.name)_present".sqlIdentifier) ON \(name) (\(list)) "
                        + "WHERE \(gone.sqlIdentifier) IS NULL")
            }
            return [SchemaAddition(table: definition.name)]
        }
        return try definition.columns.filter { info.column($0.name) == nil }.map { column in
            // Existing rows have no value for it.
            var new = try made(column, among: all)
            new.isNotNull = false
            try execute(sql: "ALTER TABLE \(name) ADD COLUMN \(new.sql)")
            return SchemaAddition(table: info.name, column: column.name)
        }
    }

    /// Returns a new column.
    ///
    /// - Parameter all: the tables that are declared together, by their names in lower case.
    func made(_ column: TableSchema.Column, among all: [String: TableSchema]) throws -> MadeTable.Column {
        MadeTable.Column(
            name: column.name, type: try column.type ?? keyType(of: column.references, among: all),
            isNotNull: column.isNotNull, references: column.references)
    }

    /// Returns the present or future type of a table's primary key, with its collation.
    private func keyType(of table: String?, among all: [String: TableSchema]) throws -> String {
        if let definition = table.flatMap({ all[$0.lowercased()] }),
            try !tableExists(definition.name, in: "main")
        {
            guard !definition.needsGeneratedKey else { return "INTEGER" }
            let key = definition.columns.first { $0.name.lowercased() == definition.key.first?.lowercased() }
            // The type of a key that itself refers to another table is that of the other table's key.
            if let key, key.type == nil, key.references?.lowercased() != definition.name.lowercased() {
                return try keyType(of: key.references, among: all)
            }
            return key?.type ?? "TEXT"
        }
        guard let table, let info = try StoredTable(self, table: table, schema: "main"), info.primaryKey.count == 1
        else {
            return "TEXT"
        }
        let type = info.column(info.primaryKey[0])?.type ?? "TEXT"
        // Spellings of a key that the other table equates are one key here, too.
        let collation = info.collations(ofKey: info.primaryKey)?.first ?? "BINARY"
        return collation.uppercased() == "BINARY" ? type : "\(type) COLLATE \(collation.sqlIdentifier)"
    }
}
