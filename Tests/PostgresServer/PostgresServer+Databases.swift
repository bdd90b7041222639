import Foundation
package import PostgresStore
import Synchronization

extension PostgresServer {
    /// One server for all tests of a process, started by the first and stopped with the process.
    package static func shared() throws -> PostgresServer { try running.get() }

    private static let running = Result { try PostgresServer() }

    package func connectionString(database: String = "postgres", user: String = "postgres") -> String {
        "host=\(folder) port=\(port) dbname=\(database) user=\(user)"
    }

    package func connect() throws -> PostgresConnection { try PostgresConnection(connectionString()) }

    /// Runs a body with a new database, and drops it after it, whoever is still connected.
    ///
    /// - Parameter template: a database that nobody is connected to.
    /// - Parameter encoding: one that `template0` is copied for, in the locale C; nil for the template's.
    package func withDatabase<Value>(
        template: String = "template0", encoding: String? = nil, _ body: (TestDatabase) async throws -> Value
    ) async throws -> Value {
        let name = "test_\(databases.add(1, ordering: .relaxed).newValue)"
        let encoding = encoding.map { " ENCODING '\($0)' LC_COLLATE 'C' LC_CTYPE 'C'" } ?? ""
        try connect().execute("CREATE DATABASE \(name) TEMPLATE \(template)\(encoding)")
        // Fails where the test has stopped the server.
        defer { _ = try? connect().execute("DROP DATABASE \(name) WITH (FORCE)") }
        return try await body(TestDatabase(server: self, name: name))
    }

    /// Makes a tablespace `small` on a file system of a few MB, which is soon full.
    ///
    /// - Returns: false where this process may not mount one.
    package func makeSmallTablespace(megabytes: Int) throws -> Bool {
        let path = "\(folder)/small"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        let mounting = ["mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path]
        guard try ServerProgram.start(mounting, log: "\(folder)/programs.log").waitUntilExit() else { return false }
        try ServerProgram.giveToServer(path)
        try connect().execute("CREATE TABLESPACE small LOCATION \(path.postgresLiteral)")
        return true
    }
}

/// Runs a body with a database of its own on the server that all tests share.
package func withPostgresDatabase<Value>(
    template: String = "template0", encoding: String? = nil, _ body: (TestDatabase) async throws -> Value
) async throws -> Value {
    try await PostgresServer.shared().withDatabase(template: template, encoding: encoding, body)
}

/// Runs a body with a server of its own, which it may stop, kill or fill up, and removes it after it.
package func withPostgresServer<Value>(
    _ options: PostgresServer.Options = PostgresServer.Options(), _ body: (PostgresServer) async throws -> Value
) async throws -> Value {
    let server = try PostgresServer(options)
    defer { server.remove() }
    return try await body(server)
}
