import Foundation
import PostgresStore

/// A pgbouncer in transaction mode in front of a server: each transaction may be served by another session.
package final class PgBouncer: Sendable {
    private let folder: String
    private let watcher: Watcher

    package static var isAvailable: Bool { program != nil }

    private static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    /// - Parameter poolSize: how many sessions of the server each database may use.
    fileprivate init(_ server: PostgresServer, poolSize: Int) throws {
        folder = try ServerProgram.makeFolder()
        let settings = """
            [databases]
            * = host=\(server.folder) port=\(server.port)
            [pgbouncer]
            listen_addr =
            listen_port = 6432
            unix_socket_dir = \(folder)
            auth_type = trust
            auth_file = \(folder)/users.txt
            pool_mode = transaction
            default_pool_size = \(poolSize)
            """
        try settings.write(toFile: "\(folder)/pgbouncer.ini", atomically: false, encoding: .utf8)
        try "\"postgres\" \"\"\n".write(toFile: "\(folder)/users.txt", atomically: false, encoding: .utf8)
        let command = (ServerProgram.userPrefix + [Self.program ?? "pgbouncer"]).joined(separator: " ")
        watcher = try Watcher(
            start: "\(command) \"$1/pgbouncer.ini\" < /dev/null & pid=$!", end: "kill $pid; wait $pid; rm -rf \"$1\"",
            arguments: [folder], log: "\(folder)/pgbouncer.log")
        let deadline = ContinuousClock.now + .seconds(60)
        while true {
            do {
                _ = try PostgresConnection(connectionString(database: "postgres"))
                return
            } catch {
                guard ContinuousClock.now < deadline else {
                    let log = (try? String(contentsOfFile: "\(folder)/pgbouncer.log", encoding: .utf8)) ?? ""
                    watcher.finish()
                    throw ServerProgram.Failure(description: "\(error)\n\(log)")
                }
                usleep(5000)
            }
        }
    }

    fileprivate func remove() { watcher.finish() }

    package func connectionString(database: String) -> String {
        "host=\(folder) port=6432 dbname=\(database) user=postgres"
    }
}

/// Runs a body with a pgbouncer in front of a server, and stops it after it.
package func withPgBouncer<Value>(
    _ server: PostgresServer, poolSize: Int = 3, _ body: (PgBouncer) async throws -> Value
) async throws -> Value {
    let bouncer = try PgBouncer(server, poolSize: poolSize)
    defer { bouncer.remove() }
    return try await body(bouncer)
}
