package import FeedModel
package import FeedStaging
import FeedStores

/// Tables that mappings declare.
extension PostgresStore {
    /// Creates missing tables, adds new columns, and compares existing ones with the definitions.
    ///
    /// - Throws: ``StoreError`` naming each column whose type, and each table whose key, is not as declared.
    @discardableResult
    package func prepareTables(_ definitions: [TableSchema]) throws -> [SchemaAddition] {
        guard !definitions.isEmpty else { return [] }
        try definitions.checkWidths(most: StoredTable.maximumColumns)
        var made: [SchemaAddition] = []
        try tableDetails.ensure(.tables(definitions.map(\.undeclared))) {
            var tables = try present(definitions)
            if !Self.areThere(definitions, tables) {
                // What cannot be used is not made.
                let mistakes =
                    Self.differences(tables, from: definitions)
                    + definitions.referenceMistakes(isMade: true) { tables[$0]?.primaryKey }
                guard mistakes.isEmpty else { throw StoreError(mistakes) }
                try changeSchema("the tables that mappings declare cannot be created") { connection in
                    made = try TableCreation(connection: connection, definitions: definitions, space: planning).run()
                }
                tables = try present(definitions)
            }
            let mistakes = Self.differences(tables, from: definitions)
            guard mistakes.isEmpty else {
                try remove(made)
                throw StoreError(mistakes)
            }
        }
        return made
    }

    package func remove(_ additions: [SchemaAddition]) throws {
        // A plan's transaction is rolled back.
        guard !additions.isEmpty, planning == nil else { return }
        try changeSchema("the tables that a run has made cannot be removed") { connection in
            var dropped: [String] = []
            for addition in additions.reversed() {
                guard let table = try Catalog(connection).table(addition.table) else { continue }
                try connection.execute("LOCK TABLE \(table.sql) IN ACCESS EXCLUSIVE MODE")
                let column = addition.column.flatMap { table.column($0)?.sql }
                if column == nil, addition.column != nil { continue }
                let condition = column.map { " WHERE \($0) IS NOT NULL" } ?? ""
                let isUsed = "SELECT EXISTS (SELECT FROM \(table.sql)\(condition))"
                guard try connection.execute(isUsed)[0].bool(0) == false else { continue }
                if let column {
                    try connection.execute("ALTER TABLE \(table.sql) DROP COLUMN \(column)")
                } else {
                    dropped.append(table.sql)
                }
            }
            // Together, as they may refer to each other.
            if !dropped.isEmpty { try connection.execute("DROP TABLE \(dropped.joined(separator: ", "))") }
        }
    }

    /// Returns true if every table exists, with every column.
    package func isPrepared(for definitions: [TableSchema]) throws -> Bool {
        Self.areThere(definitions, try present(definitions))
    }

    /// Returns the tables as they are now, with those to which they refer, by the names in the definitions.
    private func present(_ definitions: [TableSchema]) throws -> [String: StoredTable] {
        let names = definitions.map(\.name) + definitions.flatMap(\.columns).compactMap(\.references)
        return try ask { try tableDetails.reread(Set(names), in: $0) }
    }

    private static func areThere(_ definitions: [TableSchema], _ tables: [String: StoredTable]) -> Bool {
        definitions.allSatisfy { definition in
            guard let table = tables[definition.name] else { return false }
            return definition.columns.allSatisfy { table.column($0.name) != nil }
        }
    }

    /// Runs a body in one transaction that changes the schema, while no other session does.
    ///
    /// - Parameter problem: the beginning of the error.
    func changeSchema(_ problem: String, _ body: (PostgresConnection) throws -> Void) throws {
        do {
            // One of this process at a time: those that wait for another hold no connection.
            let turn = planning == nil ? TableTurn(tableTurns, ["tributary.tables"]) : nil
            defer { turn?.end() }
            try turn?.wait()
            try transaction { connection in
                if planning == nil { try SchemaLock.take(connection) }
                try body(connection)
            }
        } catch let error as PostgresError {
            throw StoreError(
                error.isTransient ? .database : .schema, "\(problem): \(error.finding.text)", help: error.finding.help)
        }
        try renewTableInfos(of: nil)
    }

    /// Returns every table except Tributary's, the parts of partitioned tables, and PostgreSQL's own.
    package func tables() throws -> [StoredTable] { try ask { try Catalog($0).usersTables() } }

    /// Returns the names of tables that the store does not have.
    package func missingTables(among names: Set<String>) throws -> [String] {
        let found = try ask { try tableDetails.reread(names, in: $0) }
        return names.sorted().filter { found[$0].map { !$0.kind.isTable } ?? true }
    }

    /// - Throws: ``StoreError`` naming a view that cannot be read.
    package func checkViews() throws {
        try ask { connection in
            for view in try Catalog(connection).views() {
                do { try connection.execute("SELECT * FROM \(view.sql) LIMIT 0") } catch let error as PostgresError
                    where error.kind == .statement
                {
                    throw StoreError(.schema, "the view '\(view.name)' cannot be read: \(error.message)")
                }
            }
        }
    }

    /// Returns the mistakes of declarations from which existing tables differ, and of names that no table can have.
    package func differences(from definitions: [TableSchema]) throws -> [Mistake] {
        Self.differences(try present(definitions), from: definitions)
    }

    private static func differences(_ tables: [String: StoredTable], from definitions: [TableSchema]) -> [Mistake] {
        definitions.flatMap {
            TableCreation.nameMistakes(of: $0) + (tables[$0.name]?.differences(from: $0) ?? [])
        } + definitions.referenceMistakes(isMade: false) { tables[$0]?.primaryKey }
    }

    /// - Throws: ``StoreError`` naming each reference whose table or column does not exist, or cannot be referred to.
    package func checkReferences(_ references: [ReferenceDefinition]) throws {
        guard !references.isEmpty else { return }
        try tableDetails.ensure(.references(references)) {
            let tables = try ask { try tableDetails.reread(Set(references.map(\.table)), in: $0) }
            let mistakes = references.compactMap { reference in
                tables[reference.table].map { $0.mistake(in: reference) } ?? reference.mistakeOfTable
            }
            guard mistakes.isEmpty else { throw StoreError(mistakes) }
        }
    }

    package func presentTable(_ name: String) throws -> StoredTable? {
        try ask { try tableDetails.reread([name], in: $0)[name] }
    }
}

/// The properties of tables for staging and merging.
extension PostgresStore {
    package func tableInfo(_ name: String) throws -> StoredTable {
        if let known = tableDetails.known(name) { return known }
        return try ask { try details(of: name, $0) }
    }

    /// - Throws: ``StoreError`` if the store has no such table.
    func details(of name: String, _ connection: PostgresConnection) throws -> StoredTable {
        guard let details = try tableDetails.details(of: name, in: connection) else {
            throw StoreError(
                .schema,
                "the store has no table '\(name)'; create it in the file that 'schema' of [store] names, or in a migration"
            )
        }
        return details
    }

    /// Forgets cached tables that have changed. Each run that uses tables begins with it. Its time does not grow with the
    /// number of tables that other runs use.
    ///
    /// - Parameters:
    ///   - tables: the names of the tables that the run uses; nil if it may use any.
    ///   - age: tables that have been looked at within this time are left out.
    package func renewTableInfos(of tables: Set<String>?, within age: Duration) throws {
        let ids = tableDetails.unseen(tables.map(tableDetails.knownWithRelatives), since: .now - age)
        guard !ids.isEmpty else { return }
        try ask { try tableDetails.renew(ids, $0) }
    }

    package func comparison(of table: String, scopes: [[String: String]]) throws -> TableComparison {
        try ask { try tableDetails.comparison(of: table, columns: [], scopes: scopes, in: $0) }
    }
}

/// Existing tables that are made as their declarations want them, with their rows.
extension PostgresStore {
    /// Returns what would make existing tables as declared; none for tables that are so.
    package func migrations(to definitions: [TableSchema]) throws -> [TableMigration] {
        try ask { connection in
            let all = definitions.mergedByTable
            return try all.compactMap { try TableAlteration($0, among: all, connection)?.migration }
        }
    }

    /// Makes existing tables as declared, all of them or none.
    ///
    /// - Returns: the migrations.
    /// - Throws: ``StoreError`` naming a value that the new type does not accept, or rows with the same new key; the
    ///   store
    ///   is then unchanged.
    package func migrate(to definitions: [TableSchema]) throws -> [TableMigration] {
        var done: [TableMigration] = []
        try changeSchema("the tables cannot be migrated, and nothing was changed") { connection in
            done = []
            let all = definitions.mergedByTable
            for definition in all {
                guard let alteration = try TableAlteration(definition, among: all, connection) else { continue }
                try alteration.run(connection)
                done.append(alteration.migration)
            }
        }
        return done
    }
}
