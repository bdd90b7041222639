import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct StatementTests {
    @Test func values() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let result = try connection.execute(
                """
                SELECT $1::text AS text, $2::bigint AS number, $3::float8 AS double, $4::boolean AS flag, $5::bytea AS bytes,
                    $6::text AS nothing, $7::text[] AS list, $8::bytea AS empty
                """,
                [
                    "é'\"", .integer(.min), 0.1, true, .bytes([0, 1, 255]), nil,
                    .textArray(try PostgresTextArray(["a", nil, ""])), .bytes([]),
                ])
            #expect(result.count == 1)
            #expect(result.columnNames == ["text", "number", "double", "flag", "bytes", "nothing", "list", "empty"])
            #expect(
                result.columnTypes == [
                    PostgresType.text, PostgresType.bigint, PostgresType.doublePrecision, PostgresType.bool,
                    PostgresType.bytea, PostgresType.text, PostgresType.textArray, PostgresType.bytea,
                ])
            let row = try #require(result.first)
            #expect(row.string(0) == "é'\"")
            #expect(try row.int64(1) == .min)
            #expect(try row.double(2) == 0.1)
            #expect(try row.bool(3) == true)
            #expect(try row.bytes(4) == [0, 1, 255])
            #expect(row.isNull(5))
            #expect(row.string(5) == nil)
            #expect(try row.int64(5) == nil)
            #expect(try row.stringArray(6) == ["a", nil, ""])
            #expect(try row.bytes(7) == [])
        }
    }

    @Test func numbers() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            for number in [0, 1, -1, 999_999_999_999_999_999, 1_000_000_000_000_000_000, .max, .min] as [Int64] {
                #expect(try connection.execute("SELECT $1::bigint", [.integer(number)]).first?.int64(0) == number)
            }
            let doubles = [0.1, -0.0, 1e300, .leastNonzeroMagnitude, .infinity, -.infinity, .pi, 1e22]
            for number in doubles {
                #expect(try connection.execute("SELECT $1::float8", [.double(number)]).first?.double(0) == number)
            }
            #expect(try connection.execute("SELECT $1::float8", [.double(.nan)]).first?.double(0)?.isNaN == true)
            let row = try #require(try connection.execute("SELECT 'x', 9999999999999999999, ''").first)
            for column in 0..<3 {
                let error = postgresError { _ = try row.int64(column) }
                #expect(error?.kind == .value)
                #expect(error?.message.contains("row 1") == true)
            }
            expectError(.value) { _ = try row.bool(0) }
            #expect(try row.bytes(0) == [UInt8(ascii: "x")])
            expectError(.value) { _ = try row.stringArray(0) }
        }
    }

    @Test func affectedRows() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            #expect(try connection.execute("CREATE TABLE t (id int PRIMARY KEY)").affectedRows == 0)
            let inserted = try connection.execute("INSERT INTO t SELECT generate_series(1, 10)")
            #expect(inserted.affectedRows == 10)
            #expect(inserted.command == "INSERT 0 10")
            #expect(try connection.execute("UPDATE t SET id = id + 100 WHERE id > $1", [7]).affectedRows == 3)
            #expect(try connection.execute("DELETE FROM t WHERE false").affectedRows == 0)
            #expect(
                try connection.execute("SELECT id FROM t ORDER BY id").compactMap { try $0.int(0) }.last == 110)
        }
    }

    @Test func errors() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE item (id int CONSTRAINT item_key PRIMARY KEY, name text NOT NULL)")
            try connection.execute("INSERT INTO item VALUES (1, 'x')")
            let error = postgresError { try connection.execute("INSERT INTO item VALUES (1, 'y')") }
            let duplicate = try #require(error)
            #expect(duplicate.kind == .statement)
            #expect(duplicate.state == .uniqueViolation)
            #expect(duplicate.state?.classCode == "23")
            #expect(duplicate.severity == "ERROR")
            #expect(duplicate.table == "item")
            #expect(duplicate.schema == "public")
            #expect(duplicate.constraint == "item_key")
            #expect(duplicate.detail == "Key (id)=(1) already exists.")
            #expect(!duplicate.isTransient)
            #expect(!duplicate.isRepeatable)
            #expect(
                duplicate.description
                    == "\(connection.address): duplicate key value violates unique constraint \"item_key\" (23505); Key (id)=(1) already exists."
            )
            let missing = postgresError { try connection.execute("INSERT INTO item VALUES (2, NULL)") }
            #expect(missing?.column == "name")
            #expect(missing?.state == .notNullViolation)
            let unknown = postgresError { try connection.execute("SELECT '€', nonsense") }
            #expect(unknown?.state == .undefinedColumn)
            #expect(unknown?.position == 13)
            #expect(connection.transactionStatus == .idle)
            expectError(.statement, state: .syntaxError) { try connection.execute("SELECT 1; SELECT 2") }
            let readOnly = postgresError {
                try connection.inTransaction(isReadOnly: true) { _ = try connection.execute("DELETE FROM item") }
            }
            #expect(readOnly?.state == .readOnlyTransaction)
            #expect(readOnly?.isTransient == true)
        }
    }

    @Test func nulCharacters() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let parameter = postgresError { try connection.execute("SELECT $1::text, $2::text", ["a", "b\u{0}c"]) }
            #expect(parameter?.kind == .value)
            #expect(parameter?.message.contains("$2") == true)
            #expect(parameter?.server == connection.address)
            expectError(.value) { try connection.execute("SELECT 'a\u{0}'") }
            expectError(.value) { try connection.executeScript("SELECT 'a\u{0}'") }
            expectError(.connecting) { _ = try PostgresConnection("dbname=a\u{0}b") }
            #expect(try connection.strings("SELECT 1") == ["1"])
        }
    }

    @Test func statementTimeout() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let error = postgresError {
                try connection.inTransaction {
                    try connection.execute("SET LOCAL statement_timeout = 10")
                    try connection.execute("SELECT pg_sleep(60)")
                }
            }
            #expect(error?.state == .queryCanceled)
            #expect(error?.description.contains("statement_timeout") == true)
            #expect(connection.transactionStatus == .idle)
            #expect(try connection.strings("SHOW statement_timeout") == ["0"])
        }
    }

    @Test func cancelling() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let session = connection.backendPID
            let interrupt = connection.interrupt
            // Without a statement it does nothing.
            try interrupt.cancel()
            let other = OtherThread {
                try database.waitUntil(session, waitsFor: "PgSleep")
                try interrupt.cancel()
            }
            let error = postgresError { try connection.execute("SELECT pg_sleep(60)") }
            try other.join()
            #expect(error?.state == .queryCanceled)
            #expect(try connection.strings("SELECT 1") == ["1"])
        }
    }

    /// A statement far larger than any buffer, while the server is as talkative.
    @Test func largeStatements() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let text = String(repeating: "0123456789", count: 2_000_000)
            let row = try #require(try connection.execute("SELECT $1::text, length($1)", [.text(text)]).first)
            #expect(row.string(0) == text)
            #expect(try row.int(1) == 20_000_000)
        }
    }

    @Test func copyElsewhere() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int)")
            expectError(.misuse) { try connection.execute("COPY t FROM STDIN") }
            expectError(.misuse) { try connection.execute("COPY t TO STDOUT") }
            expectError(.misuse) { try connection.executeScript("SELECT 1; COPY t FROM STDIN; SELECT 2") }
            expectError(.misuse) { try connection.forEachRow(of: "COPY t TO STDOUT") { _ in .next } }
            expectError(.misuse) { try connection.copyIn("SELECT 1") { _ in } }
            #expect(try connection.strings("SELECT 1") == ["1"])
        }
    }

    @Test func diskFull() async throws {
        try await withPostgresServer { server in
            guard try server.makeSmallTablespace(megabytes: 4) else { return }
            let connection = try server.connect()
            try connection.execute("CREATE TABLE t (text text) TABLESPACE small")
            let error = postgresError {
                try connection.execute("INSERT INTO t SELECT repeat('x', 1000) FROM generate_series(1, 100000)")
            }
            #expect(error?.state == .diskFull)
            #expect(error?.isTransient == true)
            #expect(error?.description.contains("make room on the server's disk") == true)
        }
    }
}
