import Foundation
import TestSupport

/// A program that was started. Foundation's `Process` would wait until the last heir of its descriptors has ended, which for
/// `pg_ctl start` is the server.
struct ChildProcess: Sendable {
    private let pid: pid_t

    init(_ command: [String], environment: [String], log: String, input: Int32?) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        if let input {
            posix_spawn_file_actions_adddup2(&actions, input, 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o666)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // Sockets and pipes of the tests end when the tests close them.
        closeFiles(&actions, from: 3)
        // The threads of a test block signals, and the program would inherit that.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let arguments = command.map { strdup($0) } + [nil]
        let variables = environment.map { strdup($0) } + [nil]
        defer { for copy in arguments + variables { free(copy) } }
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, command[0], &actions, &attributes, arguments, variables)
        guard code == 0 else {
            throw ServerProgram.Failure(description: "\(command) does not start: \(String(cString: strerror(code)))")
        }
        self.pid = pid
    }

    func signal(_ signal: Int32) { kill(pid, signal) }

    /// True once the program has ended; nothing else may be called then.
    func hasExited() -> Bool {
        var status: Int32 = 0
        return waitpid(pid, &status, WNOHANG) == pid
    }

    /// To be called at most once.
    ///
    /// - Returns: true where the program has succeeded.
    @discardableResult
    func waitUntilExit() -> Bool {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        return status == 0
    }
}
