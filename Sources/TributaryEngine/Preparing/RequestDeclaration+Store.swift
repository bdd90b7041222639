package import FeedConfiguration
package import FeedModel
package import FeedParsing
import FeedStaging
package import FeedStores

/// Prepares a store for a request, and checks the request against it, as `check` does.
extension RequestDeclaration {
    /// Creates the tables of the request's mapping or parser, and checks the references between them.
    ///
    /// - Parameter note: called with what was made; not for the SQL of a parser.
    package func prepare(
        _ store: any MainStore, parsers: ParserRegistry,
        noting note: ([SchemaAddition]) -> Void = { _ in }
    ) throws {
        switch content {
        case .parser(let name):
            guard let parser = parsers[name] else { return }
            if !parser.schema.isEmpty { try store.prepare(schema: parser.schema, tables: parser.tables) }
            if !parser.tableSchemas.isEmpty { note(try store.prepareTables(parser.tableSchemas)) }
            note(try store.prepareTables(marks(on: parser.tables, in: store)))
            if let window, !parser.tables.isEmpty,
                try !parser.tables.contains(where: { try store.columns(of: $0).contains(window.lowercased()) })
            {
                throw StoreError([
                    Mistake(place, "no table of parser '\(name)' has a column '\(window)', which 'window' names")
                ])
            }
        case .mapping(let mapping):
            let definitions = definitions(mapping)
            let references = mapping.references
            // Nothing is made for a reference that leads nowhere.
            let declared = Set(definitions.map { $0.name.lowercased() })
            try store.checkReferences(references.filter { !declared.contains($0.table.lowercased()) })
            note(try store.prepareTables(definitions))
            note(try store.prepareTables(marks(on: mapping.namedTables, in: store)))
            try store.checkReferences(references)
        case .mirrored, .captures:
            break
        }
    }

    /// Returns a mistake for each column of `scope` or `window` missing from tables that no mapping declares.
    ///
    /// - Parameters:
    ///   - store: a store with the schema.
    ///   - existing: the store in use, if there is one.
    package func scopeMistakes(
        in store: any MainStore, _ existing: (any MainStore)?, parsers: ParserRegistry
    ) throws -> [Mistake] {
        guard !scope.isEmpty || window != nil || retainsRows else { return [] }
        var tables: [String]
        switch content {
        case .parser: tables = parsers.tables(of: content).sorted()
        case .mapping(let mapping): tables = mapping.tables.map(\.table)
        case .mirrored, .captures: return []
        }
        let home = { (table: String) throws -> any MainStore in
            try existing.flatMap { try $0.missingTables(among: [table]).isEmpty ? $0 : nil } ?? store
        }
        var mistakes: [Mistake] = []
        tables = try tables.filter { try store.missingTables(among: [$0]).isEmpty }
        for table in tables {
            let columns = try home(table).columns(of: table)
            for name in scope.keys.sorted() where !columns.contains(name.lowercased()) {
                mistakes.append(
                    Mistake(
                        place,
                        "table '\(table)', which request '\(key)' writes, has no column '\(name)', which 'scope' names")
                )
            }
        }
        if let window, !tables.isEmpty,
            try !tables.contains(where: { try store.columns(of: $0).contains(window.lowercased()) })
        {
            mistakes.append(
                Mistake(
                    place, "no table that request '\(key)' writes has the column '\(window)', which 'window' names"))
        }
        return try mistakes + expiryMistakes(of: tables, in: home)
    }

    /// Runs the query of `for_each` on a store with the stack's tables.
    ///
    /// - Throws: ``StoreError`` if the query cannot be run, or lacks a column that the request uses.
    package func checkForEach(_ store: any MainStore, source: String) throws {
        guard let query = forEach?.query else { return }
        let context = store.makeWorkerContext(source: source)
        defer { context.remove() }
        let place = place.appending("for_each")
        let columns: [String]
        do {
            columns = try context.columns(ofQuery: query)
        } catch let error as StoreError {
            throw StoreError([Mistake(place, error.finding)])
        }
        for name in references.compactMap(\.column) where !columns.contains(name.lowercased()) {
            let known = columns.sorted().joined(separator: ", ")
            throw StoreError([Mistake(place, "the rows of for_each have no column '\(name)'; they have \(known)")])
        }
    }

    /// Compiles the conditions of `expect` on a store with the stack's tables.
    ///
    /// - Throws: ``StoreError`` if one cannot be evaluated.
    package func checkExpectations(_ store: any MainStore, source: String) throws {
        guard !expectations.isEmpty else { return }
        let context = store.makeWorkerContext(source: source)
        defer { context.remove() }
        for (number, expectation) in expectations.enumerated() {
            do { try context.check(condition: expectation.sql) } catch let error as StoreError {
                throw StoreError([
                    Mistake(
                        place.appending("expect", number).appending("sql"),
                        "\(error.finding.text): \(expectation.shownSQL)", help: error.finding.help)
                ])
            }
        }
    }

    /// Returns the declared key of a table; nil without one.
    package func key(of table: String, parsers: ParserRegistry) -> [String]? {
        let key =
            switch content {
            case .mapping(let mapping):
                mapping.tables.first { $0.table.lowercased() == table.lowercased() }?.key
                    ?? mapping.keyOfLookUps(in: table)
            case .parser(let name):
                parsers[name]?.keys.first { $0.key.lowercased() == table.lowercased() }?.value
            case .captures, .mirrored: [String]?.none
            }
        return key?.isEmpty == true ? nil : key
    }

    /// Returns true if a store has every table and column that the request writes, as far as it declares them.
    package func isPrepared(in store: any MainStore, parsers: ParserRegistry) throws -> Bool {
        if case .parser(let name) = content, let parser = parsers[name],
            !parser.schema.isEmpty || !parser.tableSchemas.isEmpty
        {
            return try (parser.schema.isEmpty || store.isPrepared(schema: parser.schema, tables: parser.tables))
                && store.isPrepared(for: parser.tableSchemas + marks(on: parser.tables, in: store))
        }
        guard case .mapping(let mapping) = content else {
            return try store.missingTables(among: Set(parsers.tables(of: content))).isEmpty
        }
        return try store.isPrepared(
            for: definitions(mapping) + marks(on: mapping.namedTables, in: store))
    }

    /// The schemas that the request's mapping gives its tables.
    package var schemas: [TableSchema] {
        guard case .mapping(let mapping) = content else { return [] }
        return definitions(mapping)
    }

    /// Returns the differences between the tables of an existing store and the mapping.
    package func differences(from store: any MainStore) throws -> [Mistake] {
        guard case .mapping(let mapping) = content else { return [] }
        return try store.differences(from: definitions(mapping))
    }

    /// Checks the references to tables of an existing store.
    ///
    /// - Parameter isMade: returns true for the name of a table that a run may make or change first.
    /// - Throws: ``StoreError`` naming each whose table does not exist, or cannot be referred to.
    package func checkReferences(in store: any MainStore, isMade: (String) -> Bool) throws {
        guard case .mapping(let mapping) = content else { return }
        try store.checkReferences(mapping.references.filter { !isMade($0.table) })
    }

    /// Returns a mistake for each existing table that the store's role may not write as the mapping does.
    package func missingRights(in store: any MainStore) throws -> [Mistake] {
        guard case .mapping(let mapping) = content else { return [] }
        return try mapping.tables.compactMap { table in
            var rights: Set<TableRight> = [.select, .insert]
            let mode = sync(of: table)
            if mode == .upsert || mode == .mirror { rights.insert(.update) }
            if mode == .mirror || table.deletedWhen != nil {
                rights.insert(deletionMark(of: table) == nil ? .delete : .update)
            }
            return try store.missingRights([table.table: rights])[table.table].map { Mistake(table.place, $0) }
        }
    }

    /// Returns notes on what is valid but may be unintended: references without a foreign key in an existing table.
    package func notes(on store: any MainStore, parsers: ParserRegistry) throws -> [Mistake] {
        let expiring = try expiryNotes(on: store, parsers: parsers)
        guard case .mapping(let mapping) = content else { return expiring }
        return try expiring
            + mapping.tables.flatMap { table in
                try table.columns.compactMap { column in
                    let other: String
                    switch (column.reference, column.origin) {
                    case (let reference?, _): other = reference.table
                    case (_, .parent(let parent)): other = parent
                    default: return nil
                    }
                    if try store.refers(column.name, of: table.table, to: other) { return nil }
                    return Mistake(
                        table.place.appending("columns").appending(column.name),
                        "no foreign key of table '\(table.table)' leads from '\(column.name)' to '\(other)': the database "
                            + "will not check that the row exists")
                }
            }
    }

    private func definitions(_ mapping: RequestMapping) -> [TableSchema] {
        mapping.definitions(
            scope: scope.keys.sorted(), mirrors: { sync(of: $0) == .mirror },
            gone: { deletionMark(of: $0) },
            expiry: { expiry(of: $0)?.column }, keepsHistory: keepsHistory)
    }

    /// Returns the columns of soft deletion, for existing tables without a mapping.
    private func marks(on tables: some Sequence<String>, in store: any MainStore) throws -> [TableSchema] {
        let marked = tables.compactMap { table in deletionMark(of: table).map { (table: table, gone: $0) } }
        guard !marked.isEmpty else { return [] }
        let missing = try Set(store.missingTables(among: Set(marked.map(\.table))))
        return marked.filter { !missing.contains($0.table) }.map { table, gone in
            var schema = TableSchema(name: table, columns: [], key: [], place: place)
            schema.mark(gone, mirrorsOf: [])
            return schema
        }
    }
}

extension SourceDeclaration {
    /// The names of the tables that the source's requests write or refer to; nil if a parser may use others.
    var usedTables: Set<String>? {
        var tables: Set<String> = []
        for request in requests {
            guard case .mapping(let mapping) = request.content else { return nil }
            tables.formUnion(mapping.tables.map(\.table))
            tables.formUnion(mapping.references.map(\.table))
        }
        return tables
    }
}

extension RequestMapping {
    /// The tables whose columns are those of the store.
    fileprivate var namedTables: [String] { tables.filter(\.matchesNames).map(\.table) }

    /// The requirements of each reference on the store.
    var references: [ReferenceDefinition] {
        tables.flatMap { table in
            table.columns.compactMap { column -> ReferenceDefinition? in
                guard let reference = column.reference else { return nil }
                return ReferenceDefinition(
                    table: reference.table, column: reference.column, set: reference.set.map(\.column),
                    needsUniqueColumn: reference.missing == .create,
                    place: table.place.appending("columns").appending(column.name).appending("references"))
            }
        }
    }
}

extension RequestMapping {
    /// Returns the key of a table in which references create rows; nil if they create none.
    fileprivate func keyOfLookUps(in table: String) -> [String]? {
        tables.lazy.flatMap(\.columns).compactMap(\.reference).first {
            $0.missing == .create && $0.table.lowercased() == table.lowercased()
        }.map { [$0.column] }
    }
}

extension StoreHistory {
    /// Returns changes of a run with their rows before and after.
    ///
    func withImages(
        _ changes: [ChangelogEntry], of run: ChangelogRun, _ declared: DeclaredKeys
    ) throws -> [ChangelogEntry] {
        let keys = Set(changes.map(\.table)).reduce(into: [String: [String]]()) { keys, table in
            let columns = declared.columns(of: table, changedBy: run.report.source)
            keys[table.lowercased()] = columns?.isEmpty == true ? nil : columns
        }
        return try withImages(changes, of: run.position.run, keys: keys)
    }
}

extension DeclaredKeys {
    package init(_ configuration: TributaryConfiguration, parsers: ParserRegistry) {
        self.init(configuration.sources, parsers: parsers)
    }

    init(_ sources: [SourceDeclaration], parsers: ParserRegistry) {
        self.init { table in
            sources.flatMap { source in
                source.requests.compactMap { request in
                    if let key = request.key(of: table, parsers: parsers) {
                        return Key(source: source.name, columns: key)
                    }
                    let isWritten = parsers.tables(of: request.content)
                        .contains { $0.lowercased() == table.lowercased() }
                    return isWritten ? Key(source: source.name, columns: []) : nil
                }
            }
        }
    }
}

/// Checks the columns by which rows expire, as `check` does.
extension RequestDeclaration {
    /// Returns a mistake for each column that does not exist or has no dates.
    ///
    /// - Parameters:
    ///   - tables: the existing tables that the request writes.
    ///   - store: returns the store that has a table.
    func expiryMistakes(
        of tables: [String], in store: (String) throws -> any MainStore
    ) throws -> [Mistake] {
        let scope = scope.keys.sorted()
        var lacking: [(table: String, column: String)] = []
        var hasColumn = false
        var mistakes: [Mistake] = []
        for table in tables {
            guard let expiry = expiry(of: table) else { continue }
            guard let column = try store(table).dateColumn(expiry.column, of: table, within: scope) else {
                lacking.append((table, expiry.column))
                continue
            }
            hasColumn = true
            guard !column.holdsDates else { continue }
            mistakes.append(
                Mistake(
                    place,
                    "the column '\(expiry.column)' of table '\(table)', which 'expire' of request '\(key)' names, is "
                        + "\(column.type), which holds no dates", help: "name one with dates"))
        }
        // If there are several tables, only those with the column have rows that expire.
        let isOfTable = { (table: String) in self.expiry(of: table) != self.expiry }
        for (table, column) in lacking where isOfTable(table) || !hasColumn {
            mistakes.append(
                Mistake(
                    place,
                    "table '\(table)', which request '\(key)' writes, has no column '\(column)', which 'expire' names"))
        }
        return mistakes
    }

    /// Returns notes on tables without an index for expiring rows, and on soft-deleted rows that refer to deleted ones.
    func expiryNotes(on store: any MainStore, parsers: ParserRegistry) throws -> [Mistake] {
        guard retainsRows else { return [] }
        var tables = parsers.tables(of: content)
        if case .mapping(let mapping) = content { tables = mapping.tables.map(\.table) }
        let unindexed = try Set(tables).sorted().compactMap { table -> Mistake? in
            guard let expiry = expiry(of: table),
                let column = try store.dateColumn(expiry.column, of: table, within: scope.keys.sorted()),
                !column.isIndexed
            else { return nil }
            let columns = (scope.keys.sorted() + [expiry.column]).map(\.sqlIdentifier).joined(separator: ", ")
            let index = "\(table)_\(expiry.column)".sqlIdentifier
            return Mistake(
                place, "table '\(table)' has no index by which its rows expire, so each commit reads all of it",
                help: "run CREATE INDEX \(index) ON \(table.sqlIdentifier) (\(columns))")
        }
        return try unindexed + referringNotes(on: store)
    }

    private func referringNotes(on store: any MainStore) throws -> [Mistake] {
        guard case .mapping(let mapping) = content else { return [] }
        return try mapping.tables.filter { deletionMark(of: $0) != nil }.flatMap { table in
            try table.columns.compactMap { column -> Mistake? in
                guard case .parent(let parent) = column.origin, deletesRows(of: parent),
                    deletionMark(of: parent) == nil,
                    try store.refers(column.name, of: table.table, to: parent)
                else { return nil }
                return Mistake(
                    table.place,
                    "rows of '\(table.table)' that are gone still refer to rows of '\(parent)', which are deleted, and the "
                        + "foreign key may refuse that", help: "give '\(parent)' a 'deleted', too")
            }
        }
    }
}
