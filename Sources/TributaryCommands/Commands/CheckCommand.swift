import ArgumentParser
import FeedConfiguration
import FeedDeclarations
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import SQLiteStore
import TributaryEngine
import TributaryStores

struct CheckCommand: ProgramCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Validate configuration, schema and parsers, without the network.",
        discussion: """
            The schema is tried on an empty store; the real one is not touched. A store on a server is asked with --store only.

            Examples:
              tributary check
              tributary check --store
            """)

    @OptionGroup var options: GlobalOptions

    @Flag(name: .long, help: "Print a JSON object.")
    var json = false

    @Flag(name: .long, help: "Connect to a store on a server, and compare its tables with the file.")
    var store = false

    @Flag(
        name: .long,
        help: "Tell only whether a source is enabled: exit status 1 if none is. For systemd's ExecCondition.")
    var hasSources = false

    @Flag(name: .long, help: "Print a JSON Schema of sources.toml, for editors, and check nothing.")
    var jsonSchema = false

    private struct Result: Encodable {
        var file: String
        var sources: Int
        var requests: Int
        var problems: [String]
        var notes: [String]
    }

    func run(_ program: Program) async throws {
        if jsonSchema { return try Terminal.write(Array(ConfigurationSchema.json)) }
        if hasSources { return try checkSources(program) }
        var result = Result(file: options.configurationFile, sources: 0, requests: 0, problems: [], notes: [])
        do {
            let configuration = try program.configuration(options)
            result.sources = configuration.sources.count
            result.requests = configuration.sources.reduce(0) { $0 + $1.requests.count }
            (result.problems, result.notes) = try storeProblems(program, configuration)
            let searchPath = ProcessInfo.processInfo.environment["PATH"]
            result.problems += configuration.locating(
                configuration.hooks.compactMap { $0.programProblem(file: configuration.file, searchPath: searchPath) }
                    + Self.folders(configuration))
            result.problems = result.problems.map(configuration.redactor.redact)
        } catch let error as ConfigurationError {
            result.problems = error.problems.map(\.description)
        }
        if json {
            try Terminal.printJSON(result)
        } else if result.problems.isEmpty {
            try Terminal.print(
                "\(result.file): \(Figures.count(result.sources, "source")), \(Figures.count(result.requests, "request")), no mistakes"
            )
            for note in result.notes { try Terminal.print("note: \(note)") }
        }
        guard !result.problems.isEmpty else { return }
        if json { throw ExitCode(78) }
        throw Failure.mistakes(result.problems)
    }

    /// A file with mistakes passes: the daemon is to fail with them, and not to be passed over.
    private func checkSources(_ program: Program) throws {
        let enabled: Int
        do {
            enabled = try program.configuration(options).enabledSources.count
        } catch is ConfigurationError {
            return
        }
        guard enabled == 0 else { return }
        throw Failure.failed(
            "\(options.configurationFile): no source is enabled; see 'man sources.toml'")
    }

    /// Returns the mistakes that only a store with the schema shows, and the notes.
    private func storeProblems(
        _ program: Program, _ configuration: TributaryConfiguration
    ) throws -> (problems: [String], notes: [String]) {
        let isOnServer = if case .server = configuration.store { true } else { false }
        if isOnServer, !store {
            return ([], ["the store on the server was not asked; check --store compares its tables"])
        }
        let existing: (any MainStore)?
        do {
            if isOnServer, try !configuration.hasStore() {
                return ([], ["the database has no tables of Tributary's yet; the first run creates them"])
            }
            existing = try configuration.openExistingTables()
        } catch let error as StoreError {
            return (["\(configuration.file): store.\(isOnServer ? "url" : "path"): \(error)"], [])
        }
        defer { try? existing?.close() }
        if isOnServer, let existing { return try Self.problems(on: existing, program, configuration) }
        return try Self.problemsOnTrial(existing, program, configuration)
    }

    /// Compares the tables of a store on a server, which is left as it is, with the declarations.
    private static func problems(
        on store: any MainStore, _ program: Program, _ configuration: TributaryConfiguration
    ) throws -> (problems: [String], notes: [String]) {
        var problems: [String] = []
        var notes: Set<String> = []
        for source in configuration.sources {
            let before = problems.count
            for request in source.requests {
                var found: [String]
                do {
                    found = try request.differences(from: store, file: configuration.file)
                    found += try request.scopeProblems(
                        in: store, store, file: configuration.file, source: source.name, parsers: program.parsers)
                } catch let error as StoreError where error.code == .schema {
                    found = [
                        "\(configuration.file): sources.\(source.name): request '\(request.key)': \(error.message)"
                    ]
                }
                if source.keepsHistory {
                    found += program.parsers.tables(of: request.content).compactMap(store.historyProblem).map {
                        "\(configuration.file): sources.\(source.name).keep_history: \($0)"
                    }
                }
                if found.isEmpty {
                    notes.formUnion(try request.notes(on: store, file: configuration.file, parsers: program.parsers))
                }
                problems += found
            }
            // A query may name tables that the first run creates.
            guard problems.count == before,
                try source.requests.allSatisfy({ try $0.isPrepared(in: store, parsers: program.parsers) })
            else { continue }
            for request in source.requests {
                do {
                    try request.checkForEach(store, source: source.name)
                    try request.checkExpectations(store, source: source.name)
                } catch let error as StoreError {
                    problems.append(
                        "\(configuration.file): sources.\(source.name): request '\(request.key)': \(error.message)")
                }
            }
        }
        problems += try conflicts(program, configuration, comparison: store.comparison(of:columns:))
        let scopes = try scopeConflicts([store], program, configuration)
        let hooks = try hookMessages([store], program, configuration)
        return (
            configuration.locating(problems + scopes.mistakes + hooks.mistakes),
            try configuration.locating(notes.sorted() + scopes.notes + hooks.notes)
                + undeclared(in: store, configuration)
        )
    }

    /// Returns notes on sources that are in a store alone.
    private static func undeclared(
        in store: (any MainStore)?, _ configuration: TributaryConfiguration
    ) throws -> [String] {
        try configuration.undeclaredSources(among: store?.sourceStates() ?? [:]).map(TributaryConfiguration.undeclared)
    }

    /// Tries the schema and the declarations on an empty store in a folder of its own.
    ///
    /// - Parameter existing: the store in use, if there is one.
    private static func problemsOnTrial(
        _ existing: (any MainStore)?, _ program: Program, _ configuration: TributaryConfiguration
    ) throws -> (problems: [String], notes: [String]) {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
            "tributary-check-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? FileManager.default.removeItem(at: folder) }
        do {
            let store = try SQLiteStore(
                path: folder.appendingPathComponent("store.sqlite").path, schema: configuration.schema(),
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
            try Self.trySchemaAfter(in: store, program, configuration)
            var problems = try configuration.messages(parsers: program.parsers) { request, source in
                try Self.problems(request, of: source, in: store, existing, program, configuration)
            }
            // They may name tables of any request of the source, which are all there by now.
            if problems.isEmpty { problems = try Self.expectationProblems(in: store, configuration) }
            let conflicts = try conflicts(program, configuration) { table, columns in
                // An existing table may compare values differently from the one that would be created.
                let isThere = try existing?.missingTables(among: [table]).isEmpty ?? false
                return try (isThere ? existing ?? store : store as any MainStore).comparison(
                    of: table, columns: columns)
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
                configuration.locating(problems + conflicts + scopes.mistakes + hooks.mistakes),
                try configuration.locating(Set(notes).sorted() + scopes.notes + hooks.notes)
                    + undeclared(in: configuration.hasStore() ? existing : nil, configuration)
            )
        } catch let error as StoreError {
            return (["\(configuration.file): store.schema: \(error)"], [])
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
                    return "\(configuration.file): sources.\(source.name): request '\(request.key)': \(error.message)"
                }
            }
        }
    }

    /// Runs the schema that follows the mappings, twice, as a start may not be the first. Tables that cannot be created
    /// are reported with their requests, and the SQL that relies on them is not tried.
    private static func trySchemaAfter(
        in store: any MainStore, _ program: Program, _ configuration: TributaryConfiguration
    ) throws {
        guard let sql = try configuration.schemaAfter() else { return }
        do {
            for request in configuration.sources.flatMap(\.requests) {
                try request.prepare(store, file: configuration.file, parsers: program.parsers)
            }
        } catch is StoreError {
            return
        }
        for _ in 0..<2 { try configuration.runSchemaAfter(sql, in: store, isForced: true) }
        try store.checkViews()
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
                return ["\(configuration.file): sources.\(source.name): request '\(request.key)': \(error.message)"]
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
            "\(configuration.file): sources.\(source.name): the parser of request '\(request.key)' writes table "
                + "'\(table)', which neither the schema nor a migration creates"
        }
    }
}
