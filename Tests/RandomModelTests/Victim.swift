import Foundation
import TestSupport
import Synchronization

/// A program that is started in order to be killed.
final class Victim: Sendable {
    private let process = Mutex<pid_t?>(nil)

    /// Runs a program to its end, whoever brings it about.
    ///
    /// - Returns: its exit status; negative for a signal.
    func run(_ path: String, _ arguments: [String]) async throws -> Int32 {
        let child = try start(path, arguments)
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in
                // Reaped under the lock only once it has ended: until then the number is nobody else's.
                var information = siginfo_t()
                while waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
                let status = process.withLock { process in
                    var status: Int32 = 0
                    waitpid(child, &status, 0)
                    process = nil
                    return status
                }
                continuation.resume(returning: status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F))
            }
        }
    }

    /// Kills it after a while, which is meant to be any instant; does nothing where it has ended.
    func kill(after microseconds: UInt32) {
        Thread.detachNewThread { [self] in
            usleep(microseconds)
            process.withLock { process in
                if let process { _ = Glibc.kill(process, SIGKILL) }
            }
        }
    }

    private func start(_ path: String, _ arguments: [String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in 0...2 as ClosedRange<Int32> {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        closeFiles(&actions, from: 3)
        let copies = ([path] + arguments).map { strdup($0) }
        let environment = [strdup("PATH=/usr/bin:/bin"), strdup("SWIFT_BACKTRACE=enable=no")]
        defer { for copy in copies + environment { free(copy) } }
        return try process.withLock { process in
            var child: pid_t = 0
            let code = posix_spawn(&child, path, &actions, nil, copies + [nil], environment + [nil])
            guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
            process = child
            return child
        }
    }
}
