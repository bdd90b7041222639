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
extension ConfigurationCheck {
    /// Tries the schema and the declarations on an empty store.
    ///
    /// - Parameters:
    ///   - existing: the store in use, if there is one.
    ///   - folder: the folder of the empty store.
    static func problemsOnTrial(
        _ existing: (any MainStore)?, _ program: Program, _ configuration: TributaryConfiguration, in folder: String
    ) throws -> (problems: [String], notes: [String]) {
        let path = folder + "/store.sqlite"
        do {
            let store = try SQLiteStore(
                path: path, schema: configuration.schema(),
                registerMigrations: program.registerMigrations)
            defer { try? store.close() }
            // Tables that neither a mapping nor the schema makes may be there already.
            if existing != nil, case .file(let path) = configuration.store {
                try store.adoptDefinitions(
                    of: path,
                    except: Set(configuration.sources.flatMap { $0.schemas(file: configuration.file) }.map(\.name)))
            }
            do {
                try configuration.prepareAllTables(of: store)
            } catch is StoreError {
                // Its request reports it below.
            }
            let views = try Self.trySchemaAfter(in: store, program, configuration)
            var problems = try configuration.messages(parsers: program.parsers) { request, source in
                try Self.problems(request, of: source, in: store, existing, program, configuration)
            }
            // They may name tables of any request of the source, which are all there by now.
            if problems.isEmpty { problems = try Self.expectationProblems(in: store, configuration) }
            let conflicts = try conflicts(program, configuration) { table, scopes in
                // An existing table may compare values differently from the one that would be created.
                let isThere = try existing?.missingTables(among: [table]).isEmpty ?? false
                return try (isThere ? existing ?? store : store as any MainStore).comparison(
                    of: table, scopes: scopes)
            }
            let stores = [store as any MainStore, existing].compactMap(\.self)
            let notes =
                try problems.isEmpty
                ? configuration.messages(parsers: program.parsers) { request, _ in
                    try stores.flatMap {
                        try request.notes(on: $0, file: configuration.file, parsers: program.parsers)
                    }
                } : []
            let scopes = try scopeConflicts(stores.reversed(), program, configuration)
            let hooks = try hookMessages(stores.reversed(), program, configuration)
            return (
                problems + views + conflicts + scopes.mistakes + hooks.mistakes,
                try configuration.locating(Set(notes).sorted() + scopes.notes + hooks.notes)
                    + undeclared(in: configuration.hasStore() ? existing : nil, configuration)
            )
        } catch let error as StoreError {
            let schemaError = SQLiteStore.schemaError(path)
            let text = "\(error)"
            guard text.hasPrefix(schemaError) else {
                // The folder of the empty store is gone by the time at which this is read.
                return (["\(configuration.file): \(text.replacing("the store \(path)", with: "an empty store"))"], [])
            }
            let reason = text.dropFirst(schemaError.count)
            return (["\(configuration.file): store.schema: \(configuration.schemaPath ?? ""): \(reason)"], [])
        }
    }

    private static func expectationProblems(
        in store: any MainStore, _ configuration: TributaryConfiguration
    ) throws -> [String] {
        try configuration.sources.flatMap { source in
            try source.requests.compactMap { request in
                do {
                    try request.checkExpectations(store, source: source.name)
                    return nil
                } catch let error as StoreError {
                    return Self.message(error, of: request, in: source, file: configuration.file)
                }
            }
        }
    }

    /// Runs the schema that follows the mappings, twice, as a start may not be the first. Tables that cannot be created
    /// are reported with their requests, and the SQL that relies on them is not tried.
    ///
    /// - Returns: the message about a view that cannot be read.
    private static func trySchemaAfter(
        in store: any MainStore, _ program: Program, _ configuration: TributaryConfiguration
    ) throws -> [String] {
        guard let sql = try configuration.schemaAfter() else { return [] }
        do {
            for request in configuration.sources.flatMap(\.requests) {
                try request.prepare(store, file: configuration.file, parsers: program.parsers)
            }
        } catch is StoreError {
            return []
        }
        for _ in 0..<2 { try configuration.runSchemaAfter(sql, in: store, isForced: true) }
        do {
            try store.checkViews()
        } catch let error as StoreError where error.code == .schema {
            return ["\(configuration.file): store.schema_after: \(error)"]
        }
        return []
    }

    /// - Parameter existing: the store in use, if there is one.
    private static func problems(
        _ request: RequestDeclaration, of source: SourceDeclaration, in store: any MainStore,
        _ existing: (any MainStore)?,
        _ program: Program, _ configuration: TributaryConfiguration
    ) throws -> [String] {
        do {
            try request.prepare(store, file: configuration.file, parsers: program.parsers)
            let differences = try existing.map { try request.differences(from: $0, file: configuration.file) } ?? []
            if !differences.isEmpty { return differences }
            do {
                try request.checkForEach(store, source: source.name)
            } catch let error as StoreError {
                return [Self.message(error, of: request, in: source, file: configuration.file)]
            }
            let stores = [store, existing].compactMap(\.self)
            if let problem = try lastValueProblem(request, of: source, in: stores, program) {
                return ["\(configuration.file): \(problem)"]
            }
        } catch let error as StoreError {
            return [error.message]
        }
        let lacking = try request.scopeProblems(
            in: store, existing, file: configuration.file, source: source.name, parsers: program.parsers)
        if !lacking.isEmpty { return lacking }
        let dotted = try request.schemas(file: configuration.file).filter { schema in
            try schema.name.contains(".") && existing?.missingTables(among: [schema.name]).isEmpty ?? true
        }
        if !dotted.isEmpty { return dotted.map(Self.dotted) }
        return try store.missingTables(among: Set(program.parsers.tables(of: request.content))).map { table in
            if case .mapping = request.content {
                return
                    "\(configuration.file): \(Self.place(of: request, in: source)): table '\(table)' does not exist; "
                    + "declare 'columns', or create it in the schema"
            }
            return
                "\(configuration.file): sources.\(source.name): the parser of request '\(request.key)' writes table "
                + "'\(table)', which neither the schema nor a migration creates"
        }
    }

    /// Returns what is wrong with an expression of `${last:…}`, which some of the stores must be able to evaluate; nil for
    /// nothing.
    private static func lastValueProblem(
        _ request: RequestDeclaration, of source: SourceDeclaration, in stores: [any MainStore], _ program: Program
    ) throws -> String? {
        let hasExpression = request.references.contains { if case .last = $0 { true } else { false } }
        guard hasExpression, let table = program.parsers.tables(of: request.content).first else { return nil }
        let stores = try stores.filter { try $0.missingTables(among: [table]).isEmpty }
        for reference in request.references {
            guard case .last(let expression) = reference else { continue }
            var problem: String?
            for store in stores {
                do {
                    _ = try store.value(of: expression, in: table, scope: [:])
                    problem = nil
                    break
                } catch let error as StoreError {
                    problem = problem ?? error.message
                }
            }
            if let problem { return "\(place(of: request, in: source)): \(problem)" }
        }
        return nil
    }
}
