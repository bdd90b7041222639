import FeedConfiguration
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import GRDB
import XMLStream

/// Imports an export while it is written, into its own store in the temporary folder, to check that the same rows come
/// back.
///
/// It needs space there for the document and the rows, and as much memory as a run. Used by one thread.
final class ExportTrial {
    /// The name under which its store is attached to the exporting connection, once it holds the rows.
    static let schema = "trial"
    /// The name under which it is attached before. A second name is needed because a transaction keeps reading what a
    /// database held at its first read.
    static let emptySchema = "empty_trial"

    private let folder: URL
    private let store: any MainStore
    private let path: String
    private let context: WorkerContext
    // Kept here because the stream does not retain it.
    private let handler: MappingHandler
    private let stream: XMLStreamParser
    private let document: FileHandle

    /// Creates the store, with the tables that the mapping has in the database `store` of `db`.
    ///
    /// - Parameters:
    ///   - parent: the folder in which the trial's own is made.
    ///   - makeStore: makes an SQLite store with a schema at a path.
    /// - Throws: ``ExportError`` if the temporary folder cannot be used, `StoreError`, `DatabaseError`.
    init(
        _ request: RequestDeclaration, _ mapping: RequestMapping, encryptionKey: EncryptionKey?, db: Database,
        folder parent: URL, makeStore: MappingExporter.StoreMaker
    ) throws {
        folder = parent.appendingPathComponent("tributary-export-\(UUID().uuidString)")
        do {
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            let file = folder.appendingPathComponent("document.xml")
            try Data().write(to: file)
            document = try FileHandle(forUpdating: file)
        } catch {
            throw ExportError(
                description: "the export cannot be tried in \(folder.path): \(error.localizedDescription)")
        }
        do {
            let tables = try ExportTrialTables(mapping: mapping, db: db)
            path = folder.appendingPathComponent("store.sqlite").path
            store = try makeStore(path, tables.schema)
            try db.execute(sql: "ATTACH DATABASE ? AS \(Self.emptySchema)", arguments: [path])
            try tables.copyRowsReferredTo()
            context = store.makeWorkerContext(source: "export")
            let response = FeedResponse(
                requestedURL: request.url.description, url: "", status: 200, headers: [], fetchedAt: Date(),
                validators: Validators())
            context.beginRequest(0, rule: MergeRule(sync: request.sync, scope: request.scope))
            let compiler = MappingCompiler(
                mapping: mapping, request: request, response: response, context: context, encryptionKey: encryptionKey)
            // A table may have no row to export.
            handler = MappingHandler(
                try compiler.layouts(), context: context, root: mapping.root, allowsEmpty: true)
            stream = XMLStreamParser(response, handler: handler)
        } catch {
            Self.remove(folder)
            throw error
        }
    }

    /// Reads the next piece of the document.
    func read(_ piece: [UInt8]) throws {
        try document.write(contentsOf: Data(piece))
        try whileImporting { try piece.withUnsafeBytes { try stream.parse($0) } }
    }

    /// Imports the rest of the complete document, and attaches the store to `db` as ``schema``.
    func finish(_ db: Database) throws {
        try whileImporting {
            try stream.finish()
            try store.load(context.finish())
        }
        try db.execute(sql: "ATTACH DATABASE ? AS \(Self.schema)", arguments: [path])
    }

    /// Calls `body` with the document, piece by piece.
    func forEachPiece(_ body: ([UInt8]) throws -> Void) throws {
        try document.seek(toOffset: 0)
        while let piece = try document.read(upToCount: 256 << 10), !piece.isEmpty { try body(Array(piece)) }
    }

    func remove() {
        context.remove()
        // Files that cannot be closed or removed stay in the temporary folder, which the system empties.
        try? store.close()
        try? document.close()
        Self.remove(folder)
    }

    private static func remove(_ folder: URL) { try? FileManager.default.removeItem(at: folder) }

    private func whileImporting(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as ExportError {
            throw error
        } catch {
            throw ExportError(
                description: "the document would not be imported again, so nothing is exported: \(error)")
        }
    }
}
