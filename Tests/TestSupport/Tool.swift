import Foundation
import Synchronization

/// A program of the system's that a test runs, where it is installed: Debian's package `prometheus` has `promtool` and
/// `prometheus`. What it prints goes to a file, so that no other process keeps a pipe open.
package final class Tool: Sendable {
    private static let spawning = Mutex(())

    package let identifier: Int32
    private let outputPath: String
    private let ending: Task<Int32, Never>

    package static func path(_ name: String) -> String? {
        ["/usr/bin/", "/usr/local/bin/", "/usr/sbin/"].map { $0 + name }.first { access($0, X_OK) == 0 }
    }

    package static func isInstalled(_ name: String) -> Bool { path(name) != nil }

    /// - Parameter input: the file that it reads.
    package init(_ name: String, _ arguments: [String], input: String = "/dev/null", in folder: TemporaryFolder) throws
    {
        guard let path = Self.path(name) else { throw POSIXError(.ENOENT) }
        let outputPath = folder.file("output-\(UUID().uuidString)")
        self.outputPath = outputPath
        var child: Int32 = 0
        let code = Self.spawning.withLock { _ in
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
            posix_spawn_file_actions_addopen(&actions, 1, outputPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            posix_spawn_file_actions_adddup2(&actions, 1, 2)
            closeFiles(&actions, from: 3)
            let texts = ([path] + arguments).map { strdup($0) }
            defer { for text in texts { free(text) } }
            return posix_spawn(&child, path, &actions, nil, texts + [nil], environ)
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        identifier = child
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        Thread.detachNewThread { [child] in
            var status: Int32 = 0
            waitpid(child, &status, 0)
            continuation.yield(status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F))
            continuation.finish()
        }
        ending = Task {
            for await status in stream { return status }
            return -1
        }
    }

    /// What it has printed so far.
    package var output: String { (try? String(contentsOfFile: outputPath, encoding: .utf8)) ?? "" }

    /// Its exit status; negative for a signal.
    package func end() async -> Int32 { await ending.value }

    package func stop() async {
        kill(identifier, SIGTERM)
        _ = await end()
    }
}
