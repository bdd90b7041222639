import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import SQLiteStore
import TributaryEngine
import TributaryStores

/// The check on an empty store, which needs no other.
extension StoreCheck {
    /// Tries the schema and the declarations on an empty store.
    ///
    /// - Parameters:
    ///   - existing: the store in use, if there is one.
    ///   - folder: the folder of the empty store.
    func findingsOnTrial(_ existing: (any MainStore)?, in folder: String) throws -> Findings {
        let path = folder + "/store.sqlite"
        do {
            let store = try SQLiteStore(
                path: path, schema: configuration.schema(), registerMigrations: program.registerMigrations)
            defer { try? store.close() }
            // Tables that neither a mapping nor the schema makes may be there already.
            if existing != nil, case .file(let path) = configuration.store {
                try store.adoptDefinitions(
                    of: path, except: Set(configuration.sources.flatMap(\.schemas).map(\.name)))
            }
            do {
                try configuration.prepareAllTables(of: store, parsers: program.parsers)
            } catch is StoreError {
                // Its request reports it below.
            }
            let views = try trySchemaAfter(in: store)
            var mistakes = try configuration.findings(parsers: program.parsers) { request, source in
                try self.mistakes(request, of: source, in: store, existing)
            }
            // They may name tables of any request of the source, which are all there by now.
            if mistakes.isEmpty {
                mistakes = try configuration.sources.flatMap { source in
                    try source.requests.flatMap { request in
                        try refusals(of: request) { try request.checkExpectations(store, source: source.name) }
                    }
                }
            }
            let conflicts = try MirrorConflict.all(in: configuration, parsers: program.parsers) { table, scopes in
                // An existing table may compare values differently from the one that would be created.
                let isThere = try existing?.missingTables(among: [table]).isEmpty ?? false
                return try (isThere ? existing ?? store : store as any MainStore).comparison(
                    of: table, scopes: scopes)
            }
            let stores = [store as any MainStore, existing].compactMap(\.self)
            let notes =
                try mistakes.isEmpty
                ? configuration.findings(parsers: program.parsers) { request, _ in
                    try stores.flatMap { try request.notes(on: $0, parsers: program.parsers) }
                } : []
            return try findings(
                mistakes + views + conflicts, notes, in: stores.reversed(),
                undeclaredIn: configuration.hasStore() ? existing : nil)
        } catch let error as StoreError {
            let schemaError = SQLiteStore.schemaError(path)
            var finding = error.finding
            guard finding.text.hasPrefix(schemaError) else {
                // The folder of the empty store is gone by the time at which this is read.
                finding.text.replace("the store \(path)", with: "an empty store")
                return ([Mistake(configuration.place(), finding)], [])
            }
            finding.text = "\(configuration.schemaPath ?? ""): \(finding.text.dropFirst(schemaError.count))"
            return ([Mistake(configuration.place("store", "schema"), finding)], [])
        }
    }

    /// Runs the schema that follows the mappings, twice, as a start may not be the first. Tables that cannot be created
    /// are reported with their requests, and the SQL that relies on them is not tried.
    ///
    /// - Returns: the mistake of a view that cannot be read.
    private func trySchemaAfter(
        in store: any MainStore
    ) throws -> [Mistake] {
        guard let sql = try configuration.schemaAfter() else { return [] }
        do {
            for request in configuration.sources.flatMap(\.requests) {
                try request.prepare(store, parsers: program.parsers)
            }
        } catch is StoreError {
            return []
        }
        for _ in 0..<2 { try configuration.runSchemaAfter(sql, in: store, isForced: true) }
        do {
            try store.checkViews()
        } catch let error as StoreError where error.code == .schema {
            return error.mistakes(at: configuration.place("store", "schema_after"))
        }
        return []
    }

    /// - Parameter existing: the store in use, if there is one.
    private func mistakes(
        _ request: RequestDeclaration, of source: SourceDeclaration, in store: any MainStore,
        _ existing: (any MainStore)?
    ) throws -> [Mistake] {
        var differences: [Mistake] = []
        let refused = try refusals(of: request) {
            try request.prepare(store, parsers: program.parsers)
            differences = try existing.map { try request.differences(from: $0) } ?? []
            guard differences.isEmpty else { return }
            try request.checkForEach(store, source: source.name)
            try checkLastValues(request, in: [store, existing].compactMap(\.self))
        }
        if !refused.isEmpty || !differences.isEmpty { return refused + differences }
        let lacking = try request.scopeMistakes(in: store, existing, parsers: program.parsers)
        if !lacking.isEmpty { return lacking }
        let dotted = try request.schemas.filter { schema in
            try schema.name.contains(".") && existing?.missingTables(among: [schema.name]).isEmpty ?? true
        }
        if !dotted.isEmpty { return dotted.map(dotted(_:)) }
        return try store.missingTables(among: Set(program.parsers.tables(of: request.content))).map { table in
            if case .mapping = request.content {
                return Mistake(
                    request.place, "table '\(table)' does not exist",
                    help: "declare 'columns', or create it in the schema")
            }
            return Mistake(
                request.place,
                "the parser of request '\(request.key)' writes table '\(table)', which neither the schema nor a migration "
                    + "creates")
        }
    }

    /// Checks the expressions of `${last:…}`.
    ///
    /// - Throws: ``StoreError`` if none of the stores can evaluate one.
    private func checkLastValues(
        _ request: RequestDeclaration, in stores: [any MainStore]
    ) throws {
        let hasExpression = request.references.contains { if case .last = $0 { true } else { false } }
        guard hasExpression, let table = program.parsers.tables(of: request.content).first else { return }
        let stores = try stores.filter { try $0.missingTables(among: [table]).isEmpty }
        for reference in request.references {
            guard case .last(let expression) = reference else { continue }
            var failure: StoreError?
            for store in stores {
                do {
                    _ = try store.value(of: expression, in: table, scope: [:])
                    failure = nil
                    break
                } catch let error as StoreError {
                    failure = failure ?? error
                }
            }
            if let failure { throw failure }
        }
    }
}
