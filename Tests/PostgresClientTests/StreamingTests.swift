import Foundation
import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct StreamingTests {
    private struct Interrupted: Error {}

    private let manyRows = "SELECT generate_series(1, 1000000), repeat('x', 200)"

    private func residentBytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
        return (Int(status[1]) ?? 0) * 4096
    }

    /// The whole would take more than 200 MB.
    @Test func constantMemory() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let before = try residentBytes()
            var rows = 0
            var sum: Int64 = 0
            var largest = 0
            try connection.forEachRow(of: manyRows) { row in
                rows += 1
                sum += try row.int64(0) ?? 0
                if rows.isMultiple(of: 50_000) { largest = max(largest, try residentBytes()) }
                return .next
            }
            #expect(rows == 1_000_000)
            #expect(sum == 500_000_500_000)
            // Other tests run beside this one.
            #expect(largest - before < 100 << 20)
            #expect(try connection.strings("SELECT 1") == ["1"])
        }
    }

    @Test func stopping() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            var rows = 0
            try connection.forEachRow(of: "SELECT generate_series($1::int + 1, 100000000)", [5]) { row in
                rows += 1
                let number = try row.int(0)
                #expect(number == rows + 5)
                return rows == 3 ? .stop : .next
            }
            #expect(rows == 3)
            #expect(connection.transactionStatus == .idle)
            #expect(try connection.strings("SELECT 1") == ["1"])
        }
    }

    @Test func throwing() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            expectThrows(Interrupted.self) {
                try connection.forEachRow(of: "SELECT generate_series(1, 100000000)") { _ in
                    throw Interrupted()
                }
            }
            #expect(try connection.strings("SELECT 1") == ["1"])
            // In a transaction, too; it has failed then.
            expectThrows(Interrupted.self) {
                try connection.inTransaction {
                    try connection.forEachRow(of: "SELECT generate_series(1, 100000000)") { _ in
                        throw Interrupted()
                    }
                }
            }
            #expect(connection.transactionStatus == .idle)
        }
    }

    /// The transaction goes on.
    @Test func stoppingInATransaction() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int)")
            try connection.inTransaction {
                try connection.execute("INSERT INTO t VALUES (1)")
                try connection.forEachRow(of: "SELECT n FROM generate_series(1, 10000) n") { _ in .stop }
                try connection.execute("INSERT INTO t VALUES (2)")
            }
            #expect(try connection.strings("SELECT count(*) FROM t") == ["2"])
        }
    }

    @Test func errors() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            var rows = 0
            let error = postgresError {
                try connection.forEachRow(of: "SELECT 1 / (5 - n) FROM generate_series(1, 10) n") { _ in
                    rows += 1
                    return .next
                }
            }
            #expect(rows == 4)
            #expect(error?.state == SQLState(rawValue: "22012"))
            let unknown = postgresError { try connection.forEachRow(of: "SELECT nonsense") { _ in .next } }
            #expect(unknown?.position == 8)
            #expect(try connection.strings("SELECT 1") == ["1"])
        }
    }

    /// A connection does one thing at a time, and says so.
    @Test func statementsMeanwhile() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.forEachRow(of: "SELECT n FROM generate_series(1, 3) n") { _ in
                expectError(.misuse) { try connection.execute("SELECT 1") }
                expectError(.misuse) { try connection.inTransaction {} }
                return .next
            }
            try connection.forEachRow(of: "CREATE TABLE t (id int)") { _ in .next }
            #expect(try connection.strings("SELECT count(*) FROM t") == ["0"])
        }
    }

    @Test func connectionLostBetweenRows() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let session = connection.backendPID
            var rows = 0
            let error = postgresError {
                try connection.forEachRow(of: manyRows) { _ in
                    rows += 1
                    if rows == 10 { try database.terminate(session) }
                    return .next
                }
            }
            #expect(error?.isConnectionLost == true)
            #expect(rows < 1_000_000)
        }
    }
}
