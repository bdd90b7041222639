import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct QuotingTests {
    @Test(arguments: [false, true]) func literals(standardConforming: Bool) async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("SET standard_conforming_strings = \(standardConforming)")
            try connection.execute("SET escape_string_warning = off")
            for text in hostileTexts {
                #expect(try connection.strings("SELECT \(text.postgresLiteral)") == [text])
            }
        }
    }

    @Test func identifiers() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            for name in hostileTexts where !name.isEmpty && name.utf8.count < 64 {
                let result = try connection.execute("SELECT 1 AS \(name.postgresIdentifier)")
                #expect(result.columnNames == [name])
            }
        }
    }
}
