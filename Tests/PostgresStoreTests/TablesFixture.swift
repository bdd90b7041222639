import FeedStaging
import Foundation
@testable import PostgresStore
import PostgresServer

/// A store in a database of its own, with a folder for scratch databases.
struct TablesFixture {
    let store: PostgresStore
    let database: TestDatabase
    let folder: String

    static func with(_ schema: String = "", _ body: (TablesFixture) async throws -> Void) async throws {
        try await withPostgresDatabase { (database) async throws in
            let folder = FileManager.default.temporaryDirectory.path + "/tables-\(UUID().uuidString)"
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(atPath: folder) }
            if !schema.isEmpty { try database.connect().executeScript(schema) }
            let store = try PostgresStore(url: database.connectionString, workFolder: folder)
            try await body(TablesFixture(store: store, database: database, folder: folder))
            try store.close()
        }
    }

    func execute(_ sql: String) throws { try database.connect().executeScript(sql) }

    func rows(_ sql: String) throws -> [String] {
        let result = try database.connect().execute(sql)
        return result.map { row in
            (0..<row.columnCount).map { row.string($0) ?? "NULL" }.joined(separator: "|")
        }
    }

    func details(_ name: String) throws -> StoredTable {
        try store.ask { try store.details(of: name, $0) }
    }
}
