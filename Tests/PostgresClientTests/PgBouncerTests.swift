import PostgresStore
import PostgresServer
import Testing

/// In transaction mode each transaction may be served by another session of the server.
@Suite(.enabled(if: PostgresServer.isAvailable && PgBouncer.isAvailable)) struct PgBouncerTests {
    @Test func transactions() async throws {
        try await withPostgresDatabase { database in
            try await withPgBouncer(database.server) { bouncer in
                let string = bouncer.connectionString(database: database.name)
                let connection = try PostgresConnection(string)
                #expect(connection.databaseEncoding == "UTF8")
                try connection.execute("CREATE TABLE t (id bigint PRIMARY KEY, name text)")
                for round in 1...3 {
                    try connection.inTransaction {
                        try connection.execute("CREATE TEMP TABLE staged (id bigint, name text) ON COMMIT DROP")
                        try connection.copyIn("COPY staged (id, name) FROM STDIN") { write in
                            var lines = (0..<10_000).map { "\($0)\tround \(round)\n" }.joined()
                            try lines.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
                        }
                        try connection.execute("ANALYZE staged")
                        try connection.execute(
                            "INSERT INTO t SELECT * FROM staged ON CONFLICT (id) DO UPDATE SET name = excluded.name")
                        let more = try PostgresTextArray(["20000", "20001"])
                        try connection.execute(
                            "INSERT INTO t (id) SELECT unnest($1::text[])::bigint ON CONFLICT DO NOTHING",
                            [.textArray(more)])
                    }
                }
                #expect(try connection.strings("SELECT count(*) FROM t WHERE name = $1", ["round 3"]) == ["10000"])
                try connection.forEachRow(of: "SELECT id FROM t") { _ in .stop }
                #expect(try connection.strings("SELECT count(*) FROM t") == ["10002"])
                connection.close()
            }
        }
    }

    /// The parameters of a session follow its client from one session of the server to the next.
    @Test func sessionParameters() async throws {
        try await withPostgresDatabase { database in
            try database.connect().executeScript(
                """
                ALTER DATABASE \(database.name) SET TimeZone = 'America/New_York';
                ALTER DATABASE \(database.name) SET DateStyle = 'German';
                ALTER DATABASE \(database.name) SET standard_conforming_strings = off;
                ALTER DATABASE \(database.name) SET bytea_output = 'escape';
                """)
            try await withPgBouncer(database.server, poolSize: 1) { bouncer in
                let string = bouncer.connectionString(database: database.name)
                // Two clients of one session, each with parameters of its own.
                let connection = try PostgresConnection(string)
                let other = try PostgresConnection(string + " application_name=other")
                for _ in 1...3 {
                    try other.execute("SET TimeZone = 'Asia/Tokyo'")
                    let time = try connection.strings("SELECT timestamptz '2026-03-01 12:00:00+02' || '\\n'")
                    #expect(time == ["2026-03-01 10:00:00+00\\n"])
                    #expect(try other.strings("SHOW TimeZone") == ["Asia/Tokyo"])
                    #expect(try connection.strings("SHOW application_name") == ["tributary"])
                }
                let bytes = try connection.inTransaction { try connection.strings("SELECT 'a'::bytea") }
                #expect(bytes == ["\\x61"])
                connection.close()
                other.close()
            }
        }
    }

    @Test func cancelling() async throws {
        try await withPostgresDatabase { database in
            try await withPgBouncer(database.server) { bouncer in
                let connection = try PostgresConnection(bouncer.connectionString(database: database.name))
                let interrupt = connection.interrupt
                let other = OtherThread {
                    let observer = try database.connect()
                    let sleeping = "SELECT count(*) FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'PgSleep'"
                    while try observer.strings(sleeping, [.text(database.name)]) != ["1"] {}
                    try interrupt.cancel()
                }
                let error = postgresError { try connection.execute("SELECT pg_sleep(60)") }
                try other.join()
                #expect(error?.state == .queryCanceled)
                #expect(try connection.strings("SELECT 1") == ["1"])
                connection.close()
            }
        }
    }
}
