import Foundation

/// A process that runs some seeds for this one.
struct Child {
    /// How a process has ended.
    struct Ending {
        let process: pid_t
        /// nil where a signal has ended it.
        let status: Int32?
        let signal: Int32

        fileprivate init(_ process: pid_t, _ status: Int32) {
            self.process = process
            signal = status & 0x7F
            self.status = signal == 0 ? (status >> 8) & 0xFF : nil
        }
    }

    let process: pid_t

    /// - Parameters:
    ///   - folder: the folder of its stores.
    ///   - output: the file that gets what it prints.
    init(in folder: String, _ arguments: [String], output: String) throws {
        var child: pid_t = 0
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        let texts = (["simulate", "--block", folder] + arguments).map { strdup($0) }
        defer { for text in texts { free(text) } }
        let code = posix_spawn(&child, "/proc/self/exe", &actions, nil, texts + [nil], environ)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        process = child
    }

    func end() -> Ending { Self.wait(process) }

    /// Waits for the process that ends first.
    static func firstEnding() -> Ending { wait(-1) }

    private static func wait(_ process: pid_t) -> Ending {
        var (status, ended): (Int32, pid_t) = (0, 0)
        repeat { ended = waitpid(process, &status, 0) } while ended < 0 && errno == EINTR
        precondition(ended > 0, "no process is there to wait for")
        return Ending(ended, status)
    }
}
