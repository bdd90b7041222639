import Foundation
import PostgresStore
import PostgresServer
import TestSupport
import Testing

/// Stores on servers that cannot be opened: what the program says.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct StoreErrorTests {
    private struct Mistake {
        var url: String
        /// What happened, where, and what to do.
        var says: [String]
    }

    private func expectExplained(_ mistake: Mistake, in folder: TemporaryFolder) async throws {
        let program = BuiltProgram(
            "tributary",
            config: try folder.write(
                """
                [store]
                url = "\(mistake.url)"
                [[sources.s.requests]]
                url = "http://127.0.0.1:1/"
                tables = [{ table = "item", element = "item", key = ["id"], columns = { id = "@id" } }]
                """, to: "\(UUID()).toml"))
        for (command, status) in [(["check", "--store"], 78), (["sync"], 1), (["run"], 1), (["status"], 1)] {
            let output = try await program.start(command).output()
            #expect(output.status == Int32(status), "\(command): \(output)")
            let text = output.standardError + output.standardOutput
            for expected in mistake.says {
                let isSaid = text.contains(expected)
                #expect(isSaid, "\(command): '\(expected)' is not in: \(text)")
            }
            #expect(!text.contains("s3cr3t") && output.standardError.split(separator: "\n").count <= 5, "\(text)")
        }
    }

    @Test func whoeverIsRefusedLearnsWhatToDo() async throws {
        var options = PostgresServer.Options()
        options.listensOnTCP = true
        options.hasTLS = true
        options.access = ["hostnossl all all 127.0.0.1/32 reject"]
        try await withPostgresServer(options) { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                let admin = try server.connect()
                try admin.execute("CREATE ROLE tributary LOGIN PASSWORD 'right' IN ROLE needs_password")
                try admin.execute("CREATE DATABASE feeds OWNER tributary TEMPLATE template0")
                for encoding in ["LATIN1", "SQL_ASCII"] {
                    try admin.execute(
                        """
                        CREATE DATABASE \(encoding.lowercased()) OWNER tributary TEMPLATE template0 ENCODING '\(encoding)'
                        LC_COLLATE 'C' LC_CTYPE 'C'
                        """)
                }
                let authority = try folder.write(TestCertificate.certificate, to: "other.crt")
                let host = "127.0.0.1:\(server.port)"
                let uri = "postgresql://tributary:s3cr3t@\(host)"
                let words = "hostaddr=127.0.0.1 port=\(server.port) dbname=feeds user=tributary password=s3cr3t"
                let mistakes = [
                    Mistake(
                        url: "\(uri)/feeds?gssencmode=disable",
                        says: ["postgresql://tributary@\(host)/feeds", "check the user and the password"]),
                    Mistake(
                        url: "\(uri)/feeds?sslmode=verify-full&sslrootcert=\(authority)",
                        says: ["postgresql://tributary@\(host)/feeds", "check sslrootcert", "another authority"]),
                    Mistake(
                        url: "\(words) host=other.example sslmode=verify-full sslrootcert=\(server.certificateFile)",
                        says: ["/feeds", "connect by a name that the server's certificate holds"]),
                    Mistake(
                        url: "\(uri)/feeds?sslmode=verify-full&sslrootcert=/nonexistent",
                        says: ["@\(host)/feeds", "give the certificate authority's file as sslrootcert"]),
                    Mistake(
                        url: "\(uri)/feeds?sslmode=disable&gssencmode=disable",
                        says: ["@\(host)/feeds", "pg_hba.conf"]),
                    Mistake(
                        url: "postgresql://postgres@\(host)/foods",
                        says: ["@\(host)/foods", "create the database, or correct its name"]),
                    Mistake(
                        url: "postgresql://tributary:s3cr3t@127.0.0.1:1/feeds",
                        says: ["@127.0.0.1:1/feeds", "check that the server runs and listens"]),
                    Mistake(
                        url: "postgresql://tributary:right@\(host)/latin1",
                        says: ["@\(host)/latin1", "encoding is LATIN1", "WITH ENCODING 'UTF8' TEMPLATE template0"]),
                    Mistake(
                        url: "postgresql://tributary:right@\(host)/sql_ascii",
                        says: ["@\(host)/sql_ascii", "encoding is SQL_ASCII", "WITH ENCODING 'UTF8'"]),
                ]
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for mistake in mistakes {
                        group.addTask { try await expectExplained(mistake, in: folder) }
                    }
                    try await group.waitForAll()
                }
            }
        }
    }
}
