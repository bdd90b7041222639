import Foundation
import PostgresClient
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct CopyTests {
    private struct GivenUp: Error {}

    @Test func hostileTexts() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE \"a \"\"b\" (n bigint, \"select\" text, other varchar)")
            let texts: [String?] = PostgresClientTests.hostileTexts + [nil]
            let count = try connection.copy(into: "\"a \"\"b\"", columns: ["n", "select", "other"]) { writer in
                for (number, text) in texts.enumerated() {
                    try writer.append(Int64(number))
                    if let text { try writer.append(text) } else { try writer.appendNull() }
                    if let text { try writer.append(text) } else { try writer.appendNull() }
                    try writer.endRow()
                }
                #expect(writer.rows == texts.count)
            }
            #expect(count == texts.count)
            #expect(try connection.strings("SELECT \"select\" FROM \"a \"\"b\" ORDER BY n") == texts)
            #expect(try connection.strings("SELECT other FROM \"a \"\"b\" ORDER BY n") == texts)
        }
    }

    @Test func types() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute(
                "CREATE TABLE t (a bigint, b integer, c float8, d boolean, e bytea, f text, g text, h text)")
            try connection.copy(into: "t", columns: ["a", "b", "c", "d", "e", "f", "g", "h"]) { writer in
                for (integer, double) in [(Int64.min, -0.1), (.max, .infinity), (0, .leastNonzeroMagnitude)] {
                    try writer.append(integer)
                    try writer.append(Int64(Int32(truncatingIfNeeded: integer)))
                    try writer.append(double)
                    try writer.append(integer > 0)
                    try [0, 1, 255].withUnsafeBytes {
                        try writer.append(bytes: UnsafeRawBufferPointer(rebasing: $0.prefix(1)))
                    }
                    try writer.append(integer)
                    try writer.append(double)
                    try writer.append(integer > 0)
                    try writer.endRow()
                }
            }
            let rows = try connection.execute("SELECT * FROM t").map { row in
                (0..<8).map { row.string($0) ?? "NULL" }.joined(separator: "|")
            }
            #expect(
                rows == [
                    "-9223372036854775808|0|-0.1|f|\\x00|-9223372036854775808|-0.1|false",
                    "9223372036854775807|-1|Infinity|t|\\x00|9223372036854775807|inf|true",
                    "0|0|5e-324|f|\\x00|0|5e-324|false",
                ])
        }
    }

    @Test func mistakes() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (a bigint, b text, c integer, d numeric)")
            func copy(_ columns: [String], _ body: (PostgresCopyWriter) throws -> Void) throws {
                try connection.copy(into: "t", columns: columns, body)
            }
            expectError(.misuse) { try copy(["a"]) { try $0.append("text") } }
            expectError(.misuse) { try copy(["a"]) { try $0.append(1.5) } }
            expectError(.misuse) {
                try copy(["a", "b"]) {
                    try $0.append(Int64(1)); try $0.endRow()
                }
            }
            expectError(.misuse) {
                try copy(["a"]) {
                    try $0.append(Int64(1)); try $0.append(Int64(2))
                }
            }
            expectError(.misuse) { try copy(["a"]) { try $0.append(Int64(1)) } }
            expectError(.value) {
                try copy(["c"]) {
                    try $0.append(Int64(1) << 40); try $0.endRow()
                }
            }
            let numeric = expectError(.misuse) { try copy(["d"]) { _ in } }
            #expect(numeric?.message.contains("column 'd'") == true)
            expectError(.statement, state: .undefinedColumn) { try copy(["nowhere"]) { _ in } }
            let nul = expectError(.value) {
                try copy(["a", "b"]) { writer in
                    for number in 0..<17 {
                        try writer.append(Int64(number))
                        try writer.append(number < 16 ? "text" : "te\u{0}xt")
                        try writer.endRow()
                    }
                }
            }
            #expect(nul?.message.hasPrefix("row 17, column 'b': the text holds U+0000") == true)
            let invalid = expectError(.statement, state: .characterNotInRepertoire) {
                try copy(["b"]) { writer in
                    try writer.append("valid")
                    try writer.endRow()
                    try [0xC3, 0x28].withUnsafeBufferPointer { try writer.append($0) }
                    try writer.endRow()
                }
            }
            #expect(invalid?.context == "COPY t, line 2, column b")
            // After each of them the connection is as before, and nothing was written.
            #expect(try connection.strings("SELECT count(*) FROM t") == ["0"])
        }
    }

    @Test func givingUp() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (a text)")
            expectThrows(GivenUp.self) {
                try connection.copy(into: "t", columns: ["a"]) { writer in
                    try writer.append("x")
                    try writer.endRow()
                    throw GivenUp()
                }
            }
            let writer = try connection.startCopy(into: "t", columns: ["a"])
            expectError(.misuse) { try connection.execute("SELECT 1") }
            #expect(connection.transactionStatus == .active)
            try writer.fail("changed my mind")
            try writer.fail("again")
            expectError(.misuse) { try writer.append("x") }
            expectError(.misuse) { try writer.finish() }
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
                let count = try connection.copy(into: "staged", columns: ["id", "name"]) { writer in
                    for number in 0..<100_000 {
                        try writer.append(Int64(number))
                        try writer.append("name \(number)")
                        try writer.endRow()
                    }
                }
                #expect(count == 100_000)
                try connection.execute("ANALYZE staged")
                #expect(try connection.strings("SELECT name FROM staged WHERE id = 99999") == ["name 99999"])
            }
            #expect(try connection.strings("SELECT to_regclass('staged')") == [nil])
        }
    }

    @Test func constraints() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (a bigint PRIMARY KEY)")
            let error = postgresError {
                try connection.copy(into: "t", columns: ["a"]) { writer in
                    for number in [1, 2, 1] as [Int64] {
                        try writer.append(number)
                        try writer.endRow()
                    }
                }
            }
            #expect(error?.state == .uniqueViolation)
            #expect(error?.context == "COPY t, line 3")
        }
    }

    /// Noticed while rows are being sent, and not after the last.
    @Test func serverStopped() async throws {
        try await withPostgresServer { server in
            let connection = try server.connect()
            try connection.execute("CREATE TABLE t (a text)")
            let text = String(repeating: "x", count: 1000)
            var rows = 0
            let error = postgresError {
                try connection.copy(into: "t", columns: ["a"]) { writer in
                    while true {
                        try writer.append(text)
                        try writer.endRow()
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
            let text = String(repeating: "0123456789", count: 1_000_000)
            try connection.copy(into: "t", columns: ["a"]) { writer in
                for _ in 0..<3 {
                    try writer.append(text)
                    try writer.endRow()
                }
            }
            #expect(try connection.strings("SELECT length(a) FROM t") == ["10000000", "10000000", "10000000"])
        }
    }

    /// From one store to another, whatever the types.
    @Test func outAndIn() async throws {
        try await withPostgresDatabase { database in
            let source = try database.connect()
            let target = try database.connect()
            try source.executeScript(
                """
                CREATE TABLE a (id int, price numeric, day date, text text);
                INSERT INTO a SELECT n, n / 8.0, date '2026-01-01' + n, E'a\\tb\\\\' || n FROM generate_series(1, 50000) n;
                INSERT INTO a DEFAULT VALUES;
                CREATE TABLE b (LIKE a);
                """)
            var rows = 0
            let count = try target.copyIn("COPY b FROM STDIN") { write in
                try source.copyOut("COPY a TO STDOUT") { data in
                    rows += 1
                    try write(data)
                }
            }
            #expect(rows == 50_001)
            #expect(count == 50_001)
            #expect(try source.strings("SELECT count(*) FROM (TABLE a EXCEPT ALL TABLE b) d") == ["0"])
            expectThrows(GivenUp.self) { try source.copyOut("COPY a TO STDOUT") { _ in throw GivenUp() } }
            expectThrows(GivenUp.self) { try target.copyIn("COPY b FROM STDIN") { _ in throw GivenUp() } }
            let error = postgresError {
                try target.copyIn("COPY b FROM STDIN") { try $0(UnsafeRawBufferPointer(start: nil, count: 0)) }
            }
            #expect(error == nil)
            expectError(.misuse) { try target.copyIn("COPY a TO STDOUT") { _ in } }
            #expect(try target.strings("SELECT count(*) FROM b") == ["50001"])
        }
    }
}
