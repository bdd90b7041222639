import Foundation
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct PostgresServerTests {
    /// Nothing is left of a server whose process was killed, or has ended without a word.
    @Test func endsWithItsProcess() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("tpg-test-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: file) }
        await #expect(processExitsWith: .signal(SIGKILL)) { [file = file as String] in
            let server = try PostgresServer()
            let pid = try String(contentsOfFile: "\(server.folder)/data/postmaster.pid", encoding: .utf8)
            try "\(server.folder)\n\(pid)".write(toFile: file, atomically: true, encoding: .utf8)
            kill(getpid(), SIGKILL)
        }
        let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
        let (folder, pid) = (String(lines[0]), try #require(pid_t(lines[1])))
        let deadline = ContinuousClock.now + .seconds(30)
        while FileManager.default.fileExists(atPath: folder), ContinuousClock.now < deadline { usleep(10_000) }
        #expect(!FileManager.default.fileExists(atPath: folder))
        #expect(PostgresServer.hasEnded(pid))
    }

    @Test func remove() async throws {
        let folder = try await withPostgresServer { server in
            try server.pause()
            return server.folder
        }
        #expect(!FileManager.default.fileExists(atPath: folder))
    }
}
