import PostgresClient
import PostgresServer
import Testing
@testable import PostgresStore

@Suite struct PostgresStoreTests {
    @Test func opensAndCloses() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try PostgresStore(url: database.connectionString, workFolder: "/tmp")
            #expect(try store.connections.withConnection { try $0.execute("SELECT 1")[0].int(0) } == 1)
            try store.close()
        }
    }
}
