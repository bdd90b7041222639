import FeedModel
import Foundation
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging
@testable import FeedStores

/// Names that PostgreSQL would cut: what `check --store` says of them before a run does.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct LongNameTests {
    private func schema(_ name: String, column: String = "id") -> TableSchema {
        TableSchema(
            name: name, columns: [.init(name: column, type: "text")], key: [column], place: KeyPlace(path: "f:1"))
    }

    @Test func tablesAndColumns() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let long = String(repeating: "é", count: 32)
            for (definition, expected) in [
                (schema(long), "f:1: the name '\(long)' has 64 bytes, and PostgreSQL takes 63"),
                (schema("thing", column: long), "f:1: the name '\(long)' has 64 bytes, and PostgreSQL takes 63"),
            ] {
                let told = try store.differences(from: [definition])
                #expect(told.first?.description.contains(expected) == true, "\(told)")
                // A run says the same.
                let refused = #expect(throws: StoreError.self) { try store.prepareTables([definition]) }
                #expect(refused?.message.contains(expected) == true, "\(refused?.message ?? "")")
            }
            #expect(try store.differences(from: [schema(String(long.dropLast()))]).isEmpty)
            try store.close()
        }
    }

    @Test func histories() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            #expect(store.historyProblem(of: String(repeating: "x", count: 45)) == nil)
            let problem = store.historyProblem(of: String(repeating: "x", count: 46))
            #expect(problem?.contains("shorten the table's name to 45 bytes") == true, "\(problem ?? "")")
            try store.close()
        }
    }
}
