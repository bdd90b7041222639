import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct TextArrayTests {
    @Test func roundTrip() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let elements = hostileTexts + [nil] + hostileTexts.reversed()
            let array = try PostgresTextArray(elements)
            #expect(array.count == elements.count)
            #expect(array.byteCount == array.literal.utf8.count)
            let rows = try connection.strings("SELECT * FROM unnest($1::text[])", [.textArray(array)])
            #expect(rows == elements)
            let whole = try connection.execute("SELECT $1", [.textArray(array)]).first?.stringArray(0)
            #expect(whole == elements)
        }
    }

    @Test func empty() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let result = try connection.execute("SELECT $1::text[]", [.textArray(PostgresTextArray())])
            #expect(try result.first?.stringArray(0) == [])
        }
    }

    /// Rows as columns: one statement for many, whatever the columns' types.
    @Test func manyRows() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id bigint PRIMARY KEY, name text, seen timestamptz)")
            var (ids, names, times) = (PostgresTextArray(), PostgresTextArray(), PostgresTextArray())
            for number in 0..<50_000 {
                try ids.append("\(number)")
                if number.isMultiple(of: 3) { names.appendNull() } else { try names.append("name \"\(number)\"") }
                try times.append("2026-01-01T00:00:00Z")
            }
            let inserted = try connection.execute(
                """
                INSERT INTO t SELECT a::bigint, b, c::timestamptz
                FROM unnest($1::text[], $2::text[], $3::text[]) AS u (a, b, c)
                """, [.textArray(ids), .textArray(names), .textArray(times)])
            #expect(inserted.affectedRows == 50_000)
            #expect(try connection.strings("SELECT name FROM t WHERE id IN (3, 49999)") == [nil, "name \"49999\""])
        }
    }

    @Test func nulCharacters() throws {
        var array = try PostgresTextArray(["a"])
        let error = postgresError { try array.append("b\u{0}") }
        #expect(error?.kind == .value)
        #expect(error?.message.contains("element 2") == true)
        // The array is as before.
        try array.append("c")
        #expect(array.literal == #"{"a","c"}"#)
        array.removeAll()
        #expect(array.literal == "{}")
        #expect(array.count == 0)
    }
}
