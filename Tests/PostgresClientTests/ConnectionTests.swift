import Foundation
import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct ConnectionTests {
    /// Whatever role, database and server prefer.
    @Test func sessionParameters() async throws {
        try await withPostgresDatabase { database in
            let owner = try database.connect()
            try owner.executeScript(
                """
                ALTER DATABASE \(database.name) SET TimeZone = 'America/New_York';
                ALTER DATABASE \(database.name) SET DateStyle = 'German, DMY';
                ALTER DATABASE \(database.name) SET standard_conforming_strings = off;
                ALTER DATABASE \(database.name) SET client_encoding = 'LATIN1';
                ALTER DATABASE \(database.name) SET extra_float_digits = 0;
                ALTER DATABASE \(database.name) SET bytea_output = 'escape';
                """)
            let connection = try database.connect()
            let time = try connection.strings("SELECT timestamptz '2026-03-01 12:00:00+02'")
            #expect(time == ["2026-03-01 10:00:00+00"])
            #expect(try connection.strings(#"SELECT '\n€'"#) == [#"\n€"#])
            #expect(connection.parameterStatus("client_encoding") == "UTF8")
            // Not the server's to report, so they hold in transactions only.
            let (double, letter) = try connection.inTransaction {
                (
                    try connection.strings("SELECT 0.1::float8 + 0.2::float8"),
                    try connection.strings("SELECT 'a'::bytea")
                )
            }
            #expect(double == ["0.30000000000000004"])
            #expect(letter == ["\\x61"])
            let bytes = try connection.execute(#"SELECT '\x00415cff'::bytea"#).first?.bytes(0)
            #expect(bytes == [0, 0x41, 0x5C, 0xFF])
        }
    }

    @Test func applicationName() async throws {
        try await withPostgresDatabase { database in
            let usual = try PostgresConnection(database.connectionString)
            let given = try PostgresConnection(database.connectionString + " application_name=mine")
            #expect(try usual.strings("SHOW application_name") == ["tributary"])
            #expect(try given.strings("SHOW application_name") == ["mine"])
        }
    }

    @Test func uris() async throws {
        try await withPostgresDatabase { database in
            let host = database.server.folder.replacing("/", with: "%2F")
            let connection = try PostgresConnection("postgresql://postgres@\(host)/\(database.name)?connect_timeout=5")
            #expect(try connection.strings("SELECT current_database()") == [database.name])
            #expect(connection.address.database == database.name)
            #expect(connection.address.host == database.server.folder)
            #expect(
                "\(connection.address)".hasPrefix("PostgreSQL on the socket \(database.server.folder)/.s.PGSQL.5432"))
        }
    }

    /// libpq takes the first that answers and is as wanted.
    @Test func severalHosts() async throws {
        try await withPostgresDatabase { database in
            let hosts = "host=/nonexistent,\(database.server.folder) port=5432 dbname=\(database.name) user=postgres"
            let connection = try PostgresConnection(hosts + " target_session_attrs=read-write")
            #expect(connection.address.host == database.server.folder)
            let error = postgresError { _ = try PostgresConnection(hosts + " target_session_attrs=standby") }
            #expect(error?.description.contains("every server is a primary") == true)
        }
    }

    /// In a process of its own: `setenv` is not for processes with several threads.
    @Test func environment() async throws {
        try await withPostgresDatabase { database in
            let (folder, name) = (database.server.folder, database.name)
            let role = "login_\(name)"
            try database.connect().execute("CREATE ROLE \(role) LOGIN PASSWORD 's3cr3t' IN ROLE needs_password")
            await #expect(processExitsWith: .success) {
                [folder = folder as String, name = name as String, role = role as String] in
                let service = "[feeds]\nhost=\(folder)\ndbname=\(name)\nuser=\(role)\n"
                let file = "\(folder)/\(name).conf"
                try service.write(toFile: file, atomically: true, encoding: .utf8)
                setenv("PGSERVICEFILE", file, 1)
                setenv("PGPASSWORD", "s3cr3t", 1)
                setenv("PGTZ", "Asia/Tokyo", 1)
                let connection = try PostgresConnection("service=feeds")
                #expect(try connection.strings("SELECT current_database()") == [name])
                #expect(try connection.strings("SHOW TimeZone") == ["UTC"])
                setenv("PGPASSWORD", "wr0ng", 1)
                let error = expectError(.connecting, state: .invalidPassword) {
                    _ = try PostgresConnection("service=feeds")
                }
                #expect(error?.description.contains("wr0ng") == false)
                let unknown = postgresError { _ = try PostgresConnection("service=foods") }
                #expect(unknown?.kind == .configuration)
                #expect(unknown?.isTransient == false)
            }
            try database.server.connect().execute("DROP ROLE \(role)")
        }
    }

    @Test(arguments: [("LATIN1", "LATIN1"), ("SQL_ASCII", "SQL_ASCII"), ("UTF8", "UTF8")])
    func encodings(encoding: String, reported: String) async throws {
        try await withPostgresDatabase(encoding: encoding) { database in
            let connection = try database.connect()
            #expect(connection.databaseEncoding == reported)
            #expect(try connection.strings("SELECT 'é'") == ["é"])
            guard encoding == "LATIN1" else { return }
            let error = postgresError { try connection.execute("SELECT $1::text", [.text("日本")]) }
            #expect(error?.state == .untranslatableCharacter)
            #expect(error?.description.contains("WITH ENCODING 'UTF8'") == true)
        }
    }

    @Test func unknownDatabase() throws {
        let server = try PostgresServer.shared()
        let error = postgresError { _ = try PostgresConnection(server.connectionString(database: "nowhere")) }
        #expect(error?.kind == .connecting)
        #expect(error?.state == .unknownDatabase)
        #expect(error?.isTransient == false)
        #expect(error?.description.contains("database 'nowhere', user 'postgres'") == true)
        #expect(
            error?.description.hasSuffix("create the database, or correct its name in the connection string") == true)
    }

    @Test func unknownRole() throws {
        let server = try PostgresServer.shared()
        let error = postgresError { _ = try PostgresConnection(server.connectionString(user: "nobody-here")) }
        #expect(error?.state == .invalidAuthorization)
        #expect(error?.description.contains("check that the role exists") == true)
    }

    @Test func passwords() async throws {
        try await withPostgresDatabase { database in
            let role = "login_\(database.name)"
            try database.connect().execute("CREATE ROLE \(role) LOGIN PASSWORD 's3cr3t@/:%' IN ROLE needs_password")
            let string = database.server.connectionString(database: database.name, user: role)
            let host = database.server.folder.replacing("/", with: "%2F")
            let uri = "postgresql://\(role):s3cr3t%40%2F%3A%25@\(host)/\(database.name)"
            #expect(try PostgresConnection(uri).strings("SELECT current_user") == [role])
            #expect(try PostgresConnection(string + " password='s3cr3t@/:%'").isOpen)
            for wrong in [string + " password=wr0ng", "postgresql://\(role):wr0ng@\(host)/\(database.name)"] {
                let error = postgresError { _ = try PostgresConnection(wrong) }
                #expect(error?.state == .invalidPassword)
                #expect(error?.description.contains("check the user and the password") == true)
                #expect(error?.description.contains("wr0ng") == false)
            }
            let missing = postgresError { _ = try PostgresConnection(string + " passfile=/nonexistent") }
            #expect(missing?.state == .invalidPassword)
            #expect(missing?.isTransient == false)
            // The database's end does not drop roles.
            try database.server.connect().execute("DROP ROLE \(role)")
        }
    }

    @Test func noServer() {
        let error = postgresError { _ = try PostgresConnection("host=/nonexistent dbname=feeds user=me") }
        #expect(error?.kind == .connecting)
        #expect(error?.isTransient == true)
        #expect(error?.isConnectionLost == false)
        #expect(
            error?.description.hasPrefix(
                "PostgreSQL on the socket /nonexistent/.s.PGSQL.5432, database 'feeds', user 'me': ") == true)
        #expect(error?.description.hasSuffix("check that the server runs, and its unix_socket_directories") == true)
    }

    @Test func endedBySomebody() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try database.terminate(connection.backendPID)
            let error = postgresError { try connection.execute("SELECT 1") }
            #expect(error?.isConnectionLost == true)
            #expect(error?.isRepeatable == true)
            #expect(error?.isCommitUnknown == false)
            #expect(!connection.isOpen)
            #expect(connection.transactionStatus == .unknown)
            expectError(.connectionLost) { try connection.execute("SELECT 1") }
        }
    }

    /// The server's last words tell why.
    @Test func endedInAStatement() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let session = connection.backendPID
            let other = OtherThread {
                try database.waitUntil(session, waitsFor: "PgSleep")
                try database.terminate(session)
            }
            let error = postgresError { try connection.execute("SELECT pg_sleep(60)") }
            try other.join()
            #expect(error?.isConnectionLost == true)
            #expect(error?.state == .adminShutdown)
            #expect(error?.severity == "FATAL")
        }
    }

    @Test func closed() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            connection.close()
            connection.close()
            #expect(!connection.isOpen)
            expectError(.misuse) { try connection.execute("SELECT 1") }
            try connection.interrupt.cancel()
        }
    }
}
