import Foundation
import Synchronization

/// A shell that outlives this process by a moment. It waits for the end of its input, which comes with the end of this process
/// however that ends, and then runs what cleans up. (`PR_SET_PDEATHSIG` would follow the thread that started the server.)
final class Watcher: Sendable {
    private let process: ChildProcess
    /// The other end of the shell's input; nil once closed.
    private let writer: Mutex<Int32?>

    /// - Parameter start: shell commands to begin with; they may leave something in the background.
    /// - Parameter end: shell commands that clean up.
    /// - Parameter arguments: `$1` and so on in both.
    init(start: String = ":", end: String, arguments: [String], log: String) throws {
        let script = """
            trap '' INT TERM HUP
            \(start)
            cat > /dev/null
            \(end)
            """
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ServerProgram.Failure(description: "no pipe can be made") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        writer = Mutex(ends[1])
        // A session of its own: a signal to the tests' process group does not reach it.
        let command = ["setsid", "-w", "sh", "-c", script, "sh"] + arguments
        process = try ServerProgram.start(command, log: log, input: ends[0])
    }

    /// Cleans up now, and waits until it is done. Nothing happens the second time.
    func finish() {
        let end = writer.withLock { writer in
            defer { writer = nil }
            return writer
        }
        guard let end else { return }
        close(end)
        process.waitUntilExit()
    }
}
