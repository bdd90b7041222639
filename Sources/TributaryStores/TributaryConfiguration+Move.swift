package import FeedConfiguration
package import FeedModel
package import FeedParsing
package import FeedStores
import Foundation
package import GRDB
import TributaryEngine

/// The way of everything that the sources own into another store.
extension TributaryConfiguration {
    /// Returns the configuration with another store.
    ///
    /// - Parameter schema: the path of the SQL that is written for it; nil if that of this store is.
    /// - Throws: ``StoreError`` if there is none that the other store understands.
    package func moved(to location: StoreLocation, schema: String?) throws -> TributaryConfiguration {
        var moved = self
        moved.store = location
        let isSameKind = location.isSameKind(as: store)
        guard schema != nil || schemaPath == nil || isSameKind else {
            throw StoreError(
                .schema,
                "the schema of [store] is written in \(store.kind)'s SQL; give a file with the same tables in "
                    + "\(location.kind)'s as --schema")
        }
        if let schema { moved.schemaPath = URL(fileURLWithPath: schema).standardizedFileURL.path }
        // It may name what another kind of store calls otherwise, and is run when the new store is first opened.
        if !isSameKind { moved.schemaAfterPath = nil }
        return moved
    }

    /// Checks what of a move can be checked before it: the store to be read, and that the other one is no store in use.
    ///
    /// - Throws: ``StoreError``.
    package func checkMove(to target: TributaryConfiguration) throws {
        guard let old = try openExistingStore() else { throw StoreError(.unavailable, noStore) }
        defer { try? old.close() }
        guard try target.hasStore() else { return }
        try target.withExistingStore { new in try new.map { try StoreMove.check($0, asTargetOf: old) } }
    }

    /// Moves the rows of all sources, and all that is remembered of them, into the store of another configuration. Blocks
    /// its thread.
    ///
    /// - Parameter registerMigrations: adds the program's own migrations of a store in SQLite.
    /// - Throws: ``StoreError``, `CancellationError` where the stop was requested, ``ConfigurationError`` where a
    ///   schema cannot be read. Nothing was moved then.
    package func moveStore(
        to target: TributaryConfiguration, parsers: ParserRegistry,
        registerMigrations: (inout DatabaseMigrator) -> Void = { _ in }, stop: Stop = Stop()
    ) throws -> StoreMoveReport {
        guard let old = try openExistingStore() else {
            throw StoreError(.unavailable, noStore)
        }
        defer { try? old.close() }
        let claims = try StoreMove.claim(old, declared: Set(sources.map(\.name)))
        defer { for claim in claims { claim.unlock() } }
        try target.checkExistingStore(asTargetOf: old)
        let schema = try target.schema()
        let newFile = target.newFile
        let wasThere = try target.hasStore()
        var madeTables: [String] = []
        var opened: (any MainStore)?
        defer { try? opened?.close() }
        do {
            let new = try target.openStore(schema: schema, registerMigrations: registerMigrations)
            opened = new
            let waits = Stop.Work(end: {
                old.stopWaiting()
                new.stopWaiting()
            })
            return try stop.whileInProgress(waits) {
                try StoreMove.check(new, asTargetOf: old)
                let tables = Set(sources.flatMap(\.requests).flatMap { parsers.tables(of: $0.content) })
                let missing = try new.missingTables(among: tables)
                try target.prepare(new, parsers)
                madeTables = missing
                return try StoreMove(
                    from: old, to: new, tables: tables, own: OwnTables.moved, stop: stop
                ).run(holding: claims)
            }
        } catch {
            let leavesTables = newFile == nil && !leaves(no: madeTables, wasThere: wasThere, opened)
            try? opened?.close()
            opened = nil
            for name in newFile ?? [] { unlink(name) }
            // Whatever was under way then was ended by it.
            if stop.isRequested { throw CancellationError() }
            guard leavesTables, !madeTables.isEmpty, var problem = error as? StoreError else { throw error }
            problem.message +=
                "\nThe tables that were made for it remain, and are empty: "
                + madeTables.joined(separator: ", ")
            throw problem
        }
    }

    /// Drops the tables that were made for a move that has failed.
    ///
    /// - Parameter wasThere: true if the store was one of Tributary's before.
    /// - Returns: false if they remain.
    private func leaves(no madeTables: [String], wasThere: Bool, _ store: (any MainStore)?) -> Bool {
        do {
            try store?.dropEmptyTables(madeTables, andOwn: !wasThere)
            return true
        } catch {
            return false
        }
    }

    /// Refuses a store that is in use before its schema is touched. One that cannot be opened as it is, as an empty
    /// database, holds nothing yet.
    private func checkExistingStore(asTargetOf old: any MainStore) throws {
        guard let store = try? openExistingStore() else { return }
        defer { try? store.close() }
        try StoreMove.check(store, asTargetOf: old)
    }

    /// The store's file and those beside it, where none is there yet.
    private var newFile: [String]? {
        guard case .file(let path) = store, !FileManager.default.fileExists(atPath: path) else { return nil }
        return ["", "-wal", "-shm", "-journal", "-lock"].map { path + $0 }
    }

    private func prepare(_ store: any MainStore, _ parsers: ParserRegistry) throws {
        for request in sources.flatMap(\.requests) { try request.prepare(store, parsers: parsers) }
        if let sql = try schemaAfter() { try runSchemaAfter(sql, in: store) }
    }
}
