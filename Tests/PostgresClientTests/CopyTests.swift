import Foundation
import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct CopyTests {
    private struct GivenUp: Error {}

    @Test func givingUp() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (a text)")
            expectThrows(GivenUp.self) {
                try connection.copyIn("COPY t FROM STDIN") { write in
                    try Self.write("x\n", write)
                    expectError(.misuse) { try connection.execute("SELECT 1") }
                    #expect(connection.transactionStatus == .active)
                    throw GivenUp()
                }
            }
            #expect(connection.transactionStatus == .idle)
            #expect(try connection.strings("SELECT count(*) FROM t") == ["0"])
        }
    }

    /// A commit as the store makes it.
    @Test func stagingInATransaction() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.inTransaction {
                try connection.execute("CREATE TEMP TABLE staged (id bigint, name text) ON COMMIT DROP")
                let count = try connection.copyIn("COPY staged (id, name) FROM STDIN") { write in
                    for block in 0..<100 {
                        let numbers = block * 1000..<(block + 1) * 1000
                        try Self.write(numbers.map { "\($0)\tname \($0)\n" }.joined(), write)
                    }
                }
                #expect(count == 100_000)
                try connection.execute("ANALYZE staged")
                #expect(try connection.strings("SELECT name FROM staged WHERE id = 99999") == ["name 99999"])
            }
            #expect(try connection.strings("SELECT to_regclass('staged')") == [nil])
        }
    }

    @Test func mistakes() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (a bigint PRIMARY KEY, b text)")
            let twins = postgresError {
                try connection.copyIn("COPY t (a) FROM STDIN") { try Self.write("1\n2\n1\n", $0) }
            }
            #expect(twins?.state == .uniqueViolation)
            #expect(twins?.context == "COPY t, line 3")
            let invalid = expectError(.statement, state: .characterNotInRepertoire) {
                try connection.copyIn("COPY t FROM STDIN") { write in
                    try Self.write("1\tvalid\n2\t", write)
                    let bytes: [UInt8] = [0xC3, 0x28, 0x0A]
                    try bytes.withUnsafeBytes(write)
                }
            }
            #expect(invalid?.context?.hasPrefix("COPY t, line 2") == true)
            expectError(.statement, state: .undefinedColumn) {
                try connection.copyIn("COPY t (nowhere) FROM STDIN") { _ in }
            }
            // After each of them the connection is as before, and nothing was written.
            #expect(try connection.strings("SELECT count(*) FROM t") == ["0"])
        }
    }

    /// Noticed while rows are being sent, and not after the last.
    @Test func serverStopped() async throws {
        try await withPostgresServer { server in
            let connection = try server.connect()
            try connection.execute("CREATE TABLE t (a text)")
            let line = String(repeating: "x", count: 1000) + "\n"
            var rows = 0
            let error = postgresError {
                try connection.copyIn("COPY t FROM STDIN") { write in
                    while true {
                        try Self.write(line, write)
                        rows += 1
                        if rows == 10_000 { try server.stop(.immediate) }
                    }
                }
            }
            #expect(error?.isConnectionLost == true)
            #expect(error?.isRepeatable == true)
            #expect(rows < 20_000)
        }
    }

    @Test func largeValues() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (a text)")
            let line = String(repeating: "0123456789", count: 1_000_000) + "\n"
            try connection.copyIn("COPY t FROM STDIN") { write in
                for _ in 0..<3 { try Self.write(line, write) }
            }
            #expect(try connection.strings("SELECT length(a) FROM t") == ["10000000", "10000000", "10000000"])
        }
    }

    private static func write(_ text: String, _ write: (UnsafeRawBufferPointer) throws -> Void) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
    }

    @Test func noData() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (a text)")
            try connection.copyIn("COPY t FROM STDIN") { try $0(UnsafeRawBufferPointer(start: nil, count: 0)) }
            try connection.copyIn("COPY t FROM STDIN") { _ in }
            expectError(.misuse) { try connection.copyIn("COPY t TO STDOUT") { _ in } }
            #expect(try connection.strings("SELECT count(*) FROM t") == ["0"])
        }
    }
}
