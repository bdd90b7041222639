import FeedStore
import Foundation
import GRDB
import XMLStream

/// Writes the rows of a request's mapping back as XML, in the mapping's own shape: a stream, whatever the number of rows.
package struct MappingExporter {
    private let request: RequestDeclaration
    private let mapping: RequestMapping
    private let storePath: String
    private let encryptionKey: [UInt8]?

    /// Nil where the request has no mapping.
    package init?(_ request: RequestDeclaration, configuration: TributaryConfiguration) {
        guard case .mapping(let mapping) = request.content else { return nil }
        self.request = request
        self.mapping = mapping
        storePath = configuration.storePath
        encryptionKey = configuration.encryptionKey
    }

    /// Writes the document, piece by piece.
    ///
    /// - Throws: ``ExportError``, `StoreError`, and what `write` throws.
    package func export(_ write: @escaping ([UInt8]) throws -> Void) throws {
        guard FileManager.default.fileExists(atPath: storePath) else {
            throw ExportError(description: "there is no store \(storePath) to export from; run sync first")
        }
        do {
            // A database in memory with the store attached: what rows are found by may need an index of its own.
            let queue = try DatabaseQueue()
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA temp_store = FILE; ATTACH DATABASE ? AS store", arguments: [storePath])
                try db.inTransaction(.deferred) {
                    try document(db, write)
                    return .rollback
                }
            }
        } catch let error as DatabaseError {
            throw ExportError(description: "the store \(storePath) cannot be exported: \(error.message ?? "\(error)")")
        }
    }

    private func document(_ db: Database, _ write: @escaping ([UInt8]) throws -> Void) throws {
        let planner = ExportPlanner(mapping: mapping, encryptionKey: encryptionKey) { table in
            try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_info(?, 'store') WHERE pk > 0 ORDER BY pk", arguments: [table])
        }
        let (root, document, tables) = try planner.plan()
        for table in mapping.tables {
            guard try db.tableExists(table.table, in: "store") else {
                throw ExportError(description: "the store has no table '\(table.table)' yet; run sync first")
            }
        }
        let session = ExportSession(db: db, scope: request.scope, write: write)
        try session.prepare(tables + [document].compactMap(\.self))
        session.writer.markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
        session.writer.start(root.name)
        for namespace in mapping.namespaces {
            session.writer.attribute("xmlns:" + namespace.prefix, namespace.uri.utf8)
        }
        if let document { try session.writeDocument(document) } else { try session.writeRoot(root) }
        try session.writeRows(of: tables)
        session.writer.end(root.name)
        session.writer.markup("\n".utf8)
        try session.flush()
    }
}
