package import FeedConfiguration
package import FeedModel
package import FeedParsing
package import FeedStores

/// The requirements of a request on a store's tables. Equal requirements are checked once, even for thousands of
/// requests.
package struct StoreRequirements: Hashable {
    private struct Table: Hashable {
        var name: String
        var takesColumnsOfStore: Bool
        var deletionMark: String?
        var expiry: RowExpiry?
    }

    private var parser: String?
    private var tables: [Table]
    private var schemas: [TableSchema] = []
    private var references: [ReferenceDefinition] = []
    private var scope: [String]
    private var window: String?
    private var keepsHistory: Bool

    /// - Returns: nil for a request whose queries must be tried on their own (`for_each`).
    package init?(_ request: RequestDeclaration, parsers: ParserRegistry) {
        guard request.forEach == nil else { return nil }
        func table(_ name: String, takesColumnsOfStore: Bool) -> Table {
            Table(
                name: name, takesColumnsOfStore: takesColumnsOfStore, deletionMark: request.deletionMark(of: name),
                expiry: request.expiry(of: name))
        }
        scope = request.scope.keys.sorted()
        window = request.window
        keepsHistory = request.keepsHistory
        guard case .mapping(let mapping) = request.content else {
            if case .parser(let name) = request.content { parser = name }
            tables = parsers.tables(of: request.content).map { table($0, takesColumnsOfStore: true) }
            return
        }
        tables = mapping.tables.map { table($0.table, takesColumnsOfStore: $0.matchesNames) }
        schemas = request.schemas.map(\.undeclared)
        references = mapping.references
        // The place of the declaration does not matter to a store.
        for index in references.indices { references[index].place = KeyPlace() }
    }
}

extension TributaryConfiguration {
    /// Returns the findings on all requests. After one about which there is nothing to say, none is asked for that
    /// needs the same of a store.
    package func findings(
        parsers: ParserRegistry, _ body: (RequestDeclaration, SourceDeclaration) throws -> [Mistake]
    ) rethrows -> [Mistake] {
        var met: Set<StoreRequirements> = []
        return try sources.flatMap { source in
            try source.requests.flatMap { request in
                let requirements = StoreRequirements(request, parsers: parsers)
                if let requirements, met.contains(requirements) { return [Mistake]() }
                let findings = try body(request, source)
                if let requirements, findings.isEmpty { met.insert(requirements) }
                return findings
            }
        }
    }

    /// Creates the tables of all mappings in a trial's store, in one change, as after each its connections read the whole
    /// schema again. If a request refers to rows of other tables, each request is prepared by itself, and once more after
    /// the others if a table that it needs did not exist.
    ///
    /// - Throws: `StoreError` for a mistake, unless a request refers to others: then its own preparation tells the mistake.
    package func prepareAllTables(of store: any MainStore, parsers: ParserRegistry) throws {
        let requests = sources.flatMap(\.requests)
        let refers = requests.contains { request in
            guard case .mapping(let mapping) = request.content else { return false }
            return mapping.tables.contains { $0.columns.contains { $0.reference != nil } }
        }
        guard refers else {
            var known: Set<TableSchema> = []
            try store.prepareTables(requests.flatMap(\.schemas).filter { known.insert($0.undeclared).inserted })
            return
        }
        var left = requests
        while true {
            let failed = try left.filter { request in
                do {
                    try request.prepare(store, parsers: parsers)
                    return false
                } catch is StoreError {
                    return true
                }
            }
            if failed.isEmpty || failed.count == left.count { return }
            left = failed
        }
    }
}
