import Foundation
import GRDB
import PostgresStore
import PostgresServer
import Synchronization
package import TestSupport

/// The main store of one test, of the kind over which the test runs.
package struct TestStore: Sendable {
    private let folder: TemporaryFolder
    /// Nil where the store is a file.
    private let schema: PostgresSchema?

    fileprivate init(folder: TemporaryFolder, schema: PostgresSchema?) {
        self.folder = folder
        self.schema = schema
    }

    /// The table `store` of `sources.toml`, to which lines may be added.
    package var declaration: String {
        "[store]\n" + (schema.map { "url = \"\($0.connectionString)\"\n" } ?? "path = \"store.sqlite\"\n")
    }

    /// The connection string of a store in PostgreSQL.
    package var url: String? { schema?.connectionString }

    /// The file of a store in SQLite.
    package var path: String { folder.file("store.sqlite") }

    /// The folder of scratch databases.
    package var workFolder: String { schema == nil ? path + "-work" : folder.file("tributary-work/tributary-work") }

    /// The rows of a query, each with its values in order. A value is told by the same text for every store.
    package func rows(_ sql: String) throws -> [String] {
        if let schema { return try schema.rows(sql) }
        var configuration = Configuration()
        // A program may be creating the store at this moment.
        configuration.busyMode = .timeout(20)
        return try DatabaseQueue(path: path, configuration: configuration).read { db in
            try Row.fetchAll(db, sql: sql).map { row in
                row.map { $0.1.isNull ? "NULL" : "\($0.1.storage.value ?? "")" }.joined(separator: "|")
            }
        }
    }

    /// Executes statements, written as ``StoreKind/sql(_:)`` says.
    ///
    /// - Parameter isChecked: false where rows may refer to nothing.
    package func execute(_ sql: String, isChecked: Bool = true) throws {
        if let schema { return try schema.execute(StoreKind.postgres.sql(sql), isChecked: isChecked) }
        var configuration = Configuration()
        configuration.foreignKeysEnabled = isChecked
        configuration.busyMode = .timeout(60)
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// Every row of every table but Tributary's own, as text: two equal dumps of a store are equal rows, byte for byte.
    package func dump() throws -> [String] { try schema?.dump() ?? dumpRows(path: path) }
}

/// Runs a body with a store of its own, which is gone after it.
package func withTestStore<Value>(
    in folder: TemporaryFolder, _ body: (TestStore) async throws -> Value
) async throws -> Value {
    guard StoreKind.current == .postgres else { return try await body(TestStore(folder: folder, schema: nil)) }
    let schema = try PostgresSchema(PostgresServer.shared())
    defer { schema.drop() }
    return try await body(TestStore(folder: folder, schema: schema))
}
