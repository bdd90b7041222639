import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStores
import Foundation
import SQLiteStore
import TributaryEngine
import TributaryStores

/// What only a store with the schema shows of a configuration.
struct StoreCheck {
    let program: Program
    let configuration: TributaryConfiguration

    /// The mistakes that a check finds, and notes on what is valid but may be unintended.
    typealias Findings = (mistakes: [Mistake], notes: [Mistake])

    /// Returns what only a store with the schema shows.
    ///
    /// - Parameter asksServer: true to connect to a store on a server.
    func findings(asksServer: Bool) async throws -> Findings {
        let isOnServer = if case .server = configuration.store { true } else { false }
        /// What the declarations alone show.
        func unasked(_ note: String) throws -> Findings {
            let scopes = try scopeConflicts([])
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
        if isOnServer, let existing { return try findings(on: existing) }
        var found = try await PrivateFolder.with("check") { folder in
            try findingsOnTrial(existing, in: folder)
        }
        if case .file(let path) = configuration.store, let missing = StoreError(folderOf: path) {
            found.notes += missing.mistakes(at: configuration.place("store", "path"))
        }
        return found
    }

    /// Compares the tables of a store on a server, which is left as it is, with the declarations.
    private func findings(on store: any MainStore) throws -> Findings {
        var mistakes: [Mistake] = []
        var notes: [Mistake] = []
        let made = try MadeTables(program, configuration)
        for source in configuration.sources {
            let before = mistakes.count
            for request in source.requests {
                var found: [Mistake] = []
                let refused = try refusals(of: request, .schema) {
                    found = try request.differences(from: store)
                    found += try refusals(of: request, .schema) {
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
                mistakes += try refusals(of: request) {
                    try request.checkForEach(store, source: source.name)
                    try request.checkExpectations(store, source: source.name)
                }
            }
        }
        mistakes += try MirrorConflict.all(
            in: configuration, parsers: program.parsers, comparison: store.comparison(of:scopes:))
        return try findings(mistakes, notes, in: [store], undeclaredIn: store)
    }

    /// Returns the findings on requests, and those on what requests, hooks and stores have to do with each other.
    ///
    /// - Parameters:
    ///   - stores: where the tables are; the first that has one counts.
    ///   - store: the store in use, whose other sources are named.
    func findings(
        _ mistakes: [Mistake], _ notes: [Mistake], in stores: [any MainStore], undeclaredIn store: (any MainStore)?
    ) throws -> Findings {
        let scopes = try scopeConflicts(stores)
        let hooks = try hookFindings(stores)
        let undeclared = try configuration.undeclaredSources(among: store?.read { try $0.sources.all() } ?? [:])
        let sorted = Set(notes).map { (text: $0.description, note: $0) }.sorted { $0.text < $1.text }.map(\.note)
        return (
            mistakes + scopes.mistakes + hooks.mistakes,
            sorted + scopes.notes + hooks.notes
                + undeclared.map { Mistake(KeyPlace(), TributaryConfiguration.undeclared($0)) }
        )
    }

    /// Returns the mistakes for which a store refuses a request.
    ///
    /// - Parameter code: that of the errors which are mistakes; nil for all.
    func refusals(
        of request: RequestDeclaration, _ code: StoreError.Code? = nil, _ body: () throws -> Void
    ) throws -> [Mistake] {
        do {
            try body()
            return []
        } catch let error as StoreError where code == nil || error.code == code {
            return error.mistakes(at: request.place)
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
