package import FeedConfiguration
import FeedModel
package import FeedParsing
package import FeedStores
import Foundation
package import GRDB
import PostgresStore
import SQLiteStore
import TributaryEngine

/// The store in which a run is planned.
extension TributaryConfiguration {
    /// Opens a store that has the tables of a source as a run would make them, and in which nothing stays: the main store
    /// where it has them already, else a place of the plan's own.
    ///
    /// - Parameters:
    ///   - folder: takes all that is written to this machine's disk.
    ///   - registerMigrations: adds the program's own migrations of a store in SQLite.
    /// - Returns: the store, the configuration by which it is used, and the main store if only that may keep the source's
    ///   refresh tokens: a plan exchanges them, too.
    /// - Throws: `StoreError`, ``ConfigurationError`` where a schema cannot be read.
    package func openForPlan(
        of source: SourceDeclaration, parsers: ParserRegistry, folder: String,
        registerMigrations: (inout DatabaseMigrator) -> Void = { _ in }
    ) throws -> (store: any MainStore, configuration: TributaryConfiguration, logins: (any MainStore)?) {
        var prepared = self
        prepared.schemaPath = nil
        prepared.schemaAfterPath = nil
        let isPrepared = try hasTables(of: source, parsers)
        switch store {
        case .file(let path) where isPrepared:
            return (
                try SQLiteStore(path: path, workFolder: folder + "/work", registerMigrations: registerMigrations),
                prepared, nil
            )
        case .file(let path):
            let trial = folder + "/store.sqlite"
            if FileManager.default.fileExists(atPath: path) {
                try SQLiteStore.copyForTrial(
                    path, rowsOf: tables(of: source, parsers),
                    namedIn: source.requests.compactMap { $0.forEach?.query }, to: trial)
            }
            var configuration = self
            configuration.store = .file(trial)
            return (
                try SQLiteStore(path: trial, schema: schema(), registerMigrations: registerMigrations), configuration,
                source.hasLogin ? try openStore() : nil
            )
        case .server(let url) where isPrepared:
            return (try PostgresStore(url: url, workFolder: folder + "/work"), prepared, nil)
        case .server(let url):
            let space = try PlanSpace(
                schema: schema(), schemaAfter: schemaAfter(), tables: tables(of: source, parsers)
            ) { store in
                for request in source.requests { try request.prepare(store, parsers: parsers) }
            }
            return (
                try PostgresStore(planningAt: url, workFolder: folder + "/work", in: space), prepared,
                source.hasLogin ? try openStore() : nil
            )
        }
    }

    /// Returns true if the store exists, with every table that the source writes.
    private func hasTables(of source: SourceDeclaration, _ parsers: ParserRegistry) throws -> Bool {
        guard try hasStore(), let store = try openExistingStore() else { return false }
        defer { try? store.close() }
        return try source.requests.allSatisfy { try $0.isPrepared(in: store, parsers: parsers) }
    }

    /// Returns the tables that a source writes, or in which it looks rows up.
    private func tables(of source: SourceDeclaration, _ parsers: ParserRegistry) -> Set<String> {
        source.requests.reduce(into: []) { tables, request in
            tables.formUnion(parsers.tables(of: request.content))
            guard case .mapping(let mapping) = request.content else { return }
            tables.formUnion(mapping.tables.flatMap(\.columns).compactMap(\.reference?.table))
        }
    }
}
