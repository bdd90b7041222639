import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import SQLiteStore
import TributaryEngine
import TributaryStores

/// The check of a configuration, its schema and its parsers, without the network.
struct ConfigurationCheck {
    let program: Program
    let options: GlobalOptions
    /// True to connect to a store on a server.
    var asksServer = false

    struct Result {
        var file: String
        var sources = 0
        var requests = 0
        var mistakes: [ConfigurationError.Problem] = []
        var notes: [String] = []
        /// A line for each source: its requests and tables.
        var details: [String] = []
    }

    /// - Throws: what keeps the check from being made; mistakes are in the result.
    func result() async throws -> Result {
        var result = Result(file: options.configurationFile)
        do {
            let configuration = try program.configuration(options)
            result.sources = configuration.sources.count
            result.requests = configuration.sources.reduce(0) { $0 + $1.requests.count }
            result.details = configuration.sources.map { source in
                let tables = Set(source.requests.flatMap { program.parsers.tables(of: $0.content) }).sorted()
                let written = tables.isEmpty ? "" : " into \(tables.joined(separator: ", "))"
                return "\(source.name): \(Figures.count(source.requests.count, "request"))\(written)"
                    + (source.isEnabled ? "" : ", disabled")
            }
            let found = try await findings(configuration)
            let searchPath = ProcessInfo.processInfo.environment["PATH"]
            let hooks = configuration.hooks.compactMap { hook in
                hook.programProblem(searchPath: searchPath).map {
                    Mistake(configuration.place("hooks", hook.name, "run"), $0)
                }
            }
            let mistakes = configuration.located(found.mistakes + hooks + Self.folders(configuration))
            // In the order of the files and lines; those of one line as they were found.
            func order(_ found: (offset: Int, element: ConfigurationError.Problem)) -> (Int, String, Int, Int) {
                let file = found.element.file
                let rank = file == configuration.file ? 0 : file.isEmpty ? 2 : 1
                return (rank, file, found.element.line ?? Int.max, found.offset)
            }
            result.mistakes = mistakes.enumerated().sorted { order($0) < order($1) }.map(\.element)
            result.notes = configuration.located(found.notes).map(\.description)
        } catch let error as ConfigurationError {
            result.mistakes = error.problems
        }
        return result
    }

    /// Prints that there are no mistakes, and the notes; nothing where there are any.
    func show(_ result: Result) throws {
        guard result.mistakes.isEmpty else { return }
        try Terminal.printWrapped(
            "\(result.file): \(Figures.count(result.sources, "source")), \(Figures.count(result.requests, "request")), no mistakes"
        )
        if Terminal.isVerbose { for line in result.details { try Terminal.printWrapped(line, after: "  ") } }
        for note in result.notes { try Terminal.printWrapped(note, after: "note: ", indent: 6) }
    }

    /// The mistakes that a check finds, and notes on what is valid but may be unintended.
    typealias Findings = (mistakes: [Mistake], notes: [Mistake])

    /// Returns what only a store with the schema shows.
    private func findings(_ configuration: TributaryConfiguration) async throws -> Findings {
        let isOnServer = if case .server = configuration.store { true } else { false }
        /// What the declarations alone show.
        func unasked(_ note: String) throws -> Findings {
            let scopes = try Self.scopeConflicts([], program, configuration)
            return (scopes.mistakes, scopes.notes + [Mistake(KeyPlace(), note)])
        }
        if isOnServer, !asksServer {
            return try unasked("the store on the server was not asked; check --store compares its tables")
        }
        let existing: (any MainStore)?
        do {
            if isOnServer, try !configuration.hasStore() {
                return try unasked("the database has no tables of Tributary's yet; the first run creates them")
            }
            existing = try configuration.openExistingTables()
        } catch let error as StoreError {
            return (error.mistakes(at: configuration.place("store", isOnServer ? "url" : "path")), [])
        }
        defer { try? existing?.close() }
        if isOnServer, let existing { return try Self.findings(on: existing, program, configuration) }
        var found = try await PrivateFolder.with("check") { folder in
            try Self.findingsOnTrial(existing, program, configuration, in: folder)
        }
        if case .file(let path) = configuration.store, let missing = StoreError(folderOf: path) {
            found.notes += missing.mistakes(at: configuration.place("store", "path"))
        }
        return found
    }

    /// Compares the tables of a store on a server, which is left as it is, with the declarations.
    private static func findings(
        on store: any MainStore, _ program: Program, _ configuration: TributaryConfiguration
    ) throws -> Findings {
        var mistakes: [Mistake] = []
        var notes: [Mistake] = []
        let made = try MadeTables(program, configuration)
        for source in configuration.sources {
            let before = mistakes.count
            for request in source.requests {
                var found: [Mistake] = []
                let refused = try Self.mistakes(at: request, .schema) {
                    found = try request.differences(from: store)
                    found += try Self.mistakes(at: request, .schema) {
                        try request.checkReferences(in: store, isMade: made.contains)
                    }
                    found += try request.missingRights(in: store)
                    found += try request.scopeMistakes(in: store, store, parsers: program.parsers)
                }
                if !refused.isEmpty { found = refused }
                if source.keepsHistory {
                    found += program.parsers.tables(of: request.content).compactMap(store.historyProblem).map {
                        Mistake(configuration.place("sources", source.name, "keep_history"), $0)
                    }
                }
                if found.isEmpty { notes += try request.notes(on: store, parsers: program.parsers) }
                mistakes += found
            }
            // A query may name tables that the first run creates.
            guard mistakes.count == before,
                try source.requests.allSatisfy({ try $0.isPrepared(in: store, parsers: program.parsers) })
            else { continue }
            for request in source.requests {
                mistakes += try Self.mistakes(at: request) {
                    try request.checkForEach(store, source: source.name)
                    try request.checkExpectations(store, source: source.name)
                }
            }
        }
        mistakes += try MirrorConflict.all(
            in: configuration, parsers: program.parsers, comparison: store.comparison(of:scopes:))
        let scopes = try scopeConflicts([store], program, configuration)
        let hooks = try hookFindings([store], program, configuration)
        return (
            mistakes + scopes.mistakes + hooks.mistakes,
            try sorted(notes) + scopes.notes + hooks.notes + undeclared(in: store, configuration)
        )
    }

    /// Returns notes without repetitions, in the order of their texts.
    static func sorted(_ notes: [Mistake]) -> [Mistake] {
        Set(notes).map { (text: $0.description, note: $0) }.sorted { $0.text < $1.text }.map(\.note)
    }

    /// Returns the mistakes for which a store refuses a request.
    ///
    /// - Parameter code: that of the errors which are mistakes; nil for all.
    static func mistakes(
        at request: RequestDeclaration, _ code: StoreError.Code? = nil, _ body: () throws -> Void
    ) throws -> [Mistake] {
        do {
            try body()
            return []
        } catch let error as StoreError where code == nil || error.code == code {
            return error.mistakes(at: request.place)
        }
    }

    /// Returns notes on sources that are in a store alone.
    static func undeclared(
        in store: (any MainStore)?, _ configuration: TributaryConfiguration
    ) throws -> [Mistake] {
        try configuration.undeclaredSources(among: store?.read { try $0.sources.all() } ?? [:]).map {
            Mistake(KeyPlace(), TributaryConfiguration.undeclared($0))
        }
    }
}

/// The tables that a run may make or change before it looks rows up in them.
private struct MadeTables {
    /// In lower case.
    private let written: Set<String>
    /// The SQL of the store and the parsers, in lower case.
    private let scripts: [String]

    init(_ program: Program, _ configuration: TributaryConfiguration) throws {
        let contents = configuration.sources.flatMap(\.requests).map(\.content)
        written = Set(contents.flatMap { program.parsers.tables(of: $0) }.map { $0.lowercased() })
        let parsers = contents.compactMap { content -> String? in
            if case .parser(let name) = content { program.parsers[name]?.schema } else { nil }
        }
        scripts = try (parsers + [configuration.schema(), configuration.schemaAfter()].compactMap(\.self))
            .map { $0.lowercased() }
    }

    func contains(_ name: String) -> Bool {
        let name = name.lowercased()
        let relation = name.split(separator: ".").last ?? ""
        return written.contains(name) || scripts.contains { $0.contains(relation) }
    }
}

extension HookDeclaration {
    /// Returns why the hook's program cannot be started; nil where it can, or where the hook posts.
    func programProblem(searchPath: String?) -> Finding? {
        guard case .program(let command) = receiver, let program = command.first else { return nil }
        guard !program.value.contains("/") else {
            return Self.problem(program.value).map { Finding("the program '\(program)' \($0.text)", help: $0.help) }
        }
        let folders = (searchPath ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":")
        let isFound = folders.contains { Self.problem("\($0)/\(program.value)") == nil }
        return isFound ? nil : Finding("the program '\(program)' is in no folder of PATH")
    }

    private static func problem(_ path: String) -> Finding? {
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
            return Finding("does not exist")
        }
        if isFolder.boolValue { return Finding("is a folder") }
        return FileManager.default.isExecutableFile(atPath: path)
            ? nil : Finding("is not executable", help: "`chmod +x` makes it so")
    }
}
