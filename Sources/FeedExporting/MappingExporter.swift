package import FeedConfiguration
import FeedStaging
import FeedParsing
package import FeedStores
package import Foundation
import GRDB
import XMLStream

/// Writes the rows of a request's mapping back as XML in the mapping's shape, as a stream for any number of rows.
package struct MappingExporter {
    package let request: RequestDeclaration
    private let mapping: RequestMapping
    private let storePath: String
    private let encryptionKey: EncryptionKey?
    private let makeStore: StoreMaker
    /// The reason that a document of the rows would not bring them back, where the mapping alone shows it.
    private let obstacle: ExportError?
    private let folder: URL

    /// Makes an SQLite store with a schema at a path.
    package typealias StoreMaker = @Sendable (_ path: String, _ schema: String) throws -> any MainStore

    /// Returns the names of the tables whose rows a request's export reads; nil if the request has no mapping.
    package static func tables(of request: RequestDeclaration) -> [String]? {
        guard case .mapping(let mapping) = request.content else { return nil }
        let names = mapping.tables.map(\.table) + mapping.tables.flatMap(\.columns).compactMap(\.reference?.table)
        return Array(Set(names)).sorted()
    }

    /// Returns nil if the request has no mapping.
    ///
    /// - Parameters:
    ///   - storePath: an SQLite file with the store's tables.
    ///   - folder: takes the document and the store into which it is imported on trial.
    ///   - makeStore: makes that store.
    package init?(
        _ request: RequestDeclaration, storePath: String, configuration: TributaryConfiguration,
        folder: URL = FileManager.default.temporaryDirectory, makeStore: @escaping StoreMaker
    ) {
        guard case .mapping(let mapping) = request.content else { return nil }
        self.request = request
        self.mapping = mapping.exported
        obstacle = mapping.tables.lazy.compactMap(Self.obstacle).first
        self.storePath = storePath
        encryptionKey = configuration.encryptionKey
        self.makeStore = makeStore
        self.folder = folder
    }

    private static func obstacle(of table: TableMapping) -> ExportError? {
        let columns = table.filterColumnsNotExported.map { "'\($0)'" }
        guard !columns.isEmpty else { return nil }
        return ExportError(
            description:
                "table '\(table.table)': its 'where' needs \(columns.joined(separator: " and ")), which the store does not "
                + "hold or an export leaves out, so that importing the document would skip the rows; store the values "
                + "and export them, or write the document for others with --unchecked")
    }

    /// Writes the document, piece by piece.
    ///
    /// The document is first written to the temporary folder and imported there into a separate store. This takes as
    /// long as a sync of the same rows. A document is passed on only if importing it gives the same rows. All rows are
    /// from one moment.
    ///
    /// - Parameter isTried: false passes the document on while it is made, without the trial import.
    /// - Throws: ``ExportError``, `StoreError`, and the errors of `write`.
    package func export(isTried: Bool = true, _ write: @escaping ([UInt8]) throws -> Void) throws {
        if isTried, let obstacle { throw obstacle }
        guard FileManager.default.fileExists(atPath: storePath) else {
            throw ExportError(description: "there is no store \(storePath) to export from; run sync first")
        }
        do {
            // A database in memory with the store attached, because finding rows may need a temporary index.
            var settings = Configuration()
            settings.foreignKeysEnabled = false
            // A process that opens or closes the store locks it for a moment.
            settings.busyMode = .timeout(10)
            let queue = try DatabaseQueue(configuration: settings)
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA temp_store = FILE; ATTACH DATABASE ? AS store", arguments: [storePath])
                let exported = try withNamedColumns(db)
                guard isTried else {
                    return try db.inTransaction(.deferred) {
                        try document(exported, db, write)
                        return .rollback
                    }
                }
                let trial = try ExportTrial(
                    request, mapping, encryptionKey: encryptionKey, db: db, folder: folder, makeStore: makeStore)
                defer { trial.remove() }
                try db.inTransaction(.deferred) {
                    try document(exported, db) { try trial.read($0) }
                    try trial.finish(db)
                    var comparison = ExportComparison(db: db, mapping: exported, request: request)
                    try comparison.check()
                    return .rollback
                }
                try trial.forEachPiece(write)
            }
        } catch let error as DatabaseError {
            throw ExportError(description: "the store \(storePath) cannot be exported: \(error.message ?? "\(error)")")
        }
    }

    /// Returns the mapping, with a child element for each column of the store in tables that match columns by name.
    private func withNamedColumns(_ db: Database) throws -> RequestMapping {
        var mapping = mapping
        for index in mapping.tables.indices {
            let table = mapping.tables[index]
            guard try db.tableExists(table.table, in: "store") else {
                throw ExportError(description: "the store has no table '\(table.table)' yet; run sync first")
            }
            guard table.matchesNames else { continue }
            let columns = try Row.fetchAll(
                db, sql: "SELECT name, pk FROM pragma_table_xinfo(?, 'store') WHERE hidden = 0",
                arguments: [table.table])
            let gone = request.deletionMark(of: table)?.lowercased()
            mapping.tables[index].columns = columns.compactMap { row in
                let name: String = row["name"]
                return name.lowercased() == gone
                    ? nil
                    : ColumnMapping(
                        name: name, origin: .path(XMLPath(steps: [.init(test: .local(name))]), written: name))
            }
            if table.key.isEmpty {
                mapping.tables[index].key = columns.filter { ($0["pk"] as Int) > 0 }.map { $0["name"] }
            }
        }
        return mapping
    }

    private func document(_ mapping: RequestMapping, _ db: Database, _ write: @escaping ([UInt8]) throws -> Void) throws
    {
        let builder = ExportLayoutBuilder(
            mapping: mapping, encryptionKey: encryptionKey, primaryKey: db.keyInStore)
        let (root, document, tables) = try builder.layout()
        let session = ExportSession(db: db, request: request, write: write)
        try session.prepare(tables + [document].compactMap(\.self))
        session.writer.markup("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".utf8)
        if let document, let markup = try session.documentMarkup(of: document) {
            session.writer.markup(markup)
        } else {
            session.writer.start(root.name)
            let isUnqualified = root.fixed.contains { $0.name == "xmlns" }
            for namespace in mapping.namespaces where !(isUnqualified && namespace.prefix.isEmpty) {
                session.writer.attribute(
                    namespace.prefix.isEmpty ? "xmlns" : "xmlns:" + namespace.prefix, namespace.uri.utf8)
            }
            if let document { try session.writeDocument(document) } else { try session.writeRoot(root) }
            try session.writeRows(of: tables)
            session.writer.end(root.name)
        }
        session.writer.markup("\n".utf8)
        try session.flush()
    }
}
