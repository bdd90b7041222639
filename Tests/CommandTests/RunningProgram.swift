import Foundation
import TestSupport
import Synchronization

/// A process that was started, what it prints, and how it ends.
///
/// Spawned by hand, one at a time: no process started at the same moment keeps another's pipes open, and a thread waits
/// for each child by its id.
final class RunningProgram: Sendable {
    private static let spawning = Mutex(())

    let identifier: Int32
    private let output: FileHandle
    private let errors: FileHandle
    private let ending: Task<Int32, Never>

    init(_ program: BuiltProgram, _ command: [String], standardError: String? = nil) throws {
        // prlimit(1) becomes the program: its id is the same. The stacks of threads count as data, used or not.
        let limits =
            program.dataLimit.map { ["/usr/bin/prlimit", "--data=\($0)", "--stack=\(2 << 20)", "--core=0"] } ?? []
        let user = program.user.map { user in
            ["/usr/bin/setpriv", "--reuid=\(user.id)", "--regid=\(user.group)", "--clear-groups"]
        }
        let arguments = limits + (user ?? []) + [program.path, command[0]] + program.arguments + command.dropFirst()
        let executable = arguments[0]
        let environment = program.environment.map { "\($0.key)=\($0.value)" }
        var pipes: [[Int32]] = []
        var child: Int32 = 0
        let code = try Self.spawning.withLock { _ in
            for _ in 0..<2 {
                var ends: [Int32] = [0, 0]
                guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
                for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
                pipes.append(ends)
            }
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
            posix_spawn_file_actions_adddup2(&actions, pipes[0][1], 1)
            posix_spawn_file_actions_adddup2(&actions, pipes[1][1], 2)
            if let standardError {
                posix_spawn_file_actions_addopen(&actions, 2, standardError, O_WRONLY | O_APPEND, 0)
            }
            closeFiles(&actions, from: 3)
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            // Under nohup(1), and in the background of a script, the tests ignore some; the program would inherit that.
            var signals = sigset_t()
            sigemptyset(&signals)
            for signal in [SIGHUP, SIGINT, SIGQUIT, SIGTERM] { sigaddset(&signals, signal) }
            posix_spawnattr_setsigdefault(&attributes, &signals)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF))
            defer { for ends in pipes { close(ends[1]) } }
            return withCStrings(arguments) { arguments in
                withCStrings(environment) { posix_spawn(&child, executable, &actions, &attributes, arguments, $0) }
            }
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EIO) }
        identifier = child
        output = FileHandle(fileDescriptor: pipes[0][0], closeOnDealloc: true)
        errors = FileHandle(fileDescriptor: pipes[1][0], closeOnDealloc: true)
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        Thread.detachNewThread { [child] in
            var status: Int32 = 0
            waitpid(child, &status, 0)
            // As the shell's WIFEXITED and WEXITSTATUS (wait(2)).
            continuation.yield(status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F))
            continuation.finish()
        }
        ending = Task {
            for await end in stream { return end }
            return -1
        }
    }

    func signal(_ signal: Int32) { kill(identifier, signal) }

    /// Stops listening, as a reader does that has ended.
    func closeOutput() throws {
        try output.close()
        try errors.close()
    }

    /// Its exit status; negative for a signal.
    func end() async -> Int32 { await ending.value }

    func output() async -> BuiltProgram.Output {
        async let text = read(output)
        async let errorText = read(errors)
        return await BuiltProgram.Output(status: end(), standardOutput: text, standardError: errorText)
    }

    /// The lines of standard error as they come.
    var errorLines: AsyncStream<String> { lines(of: errors) }

    /// The lines of standard output as they come.
    var outputLines: AsyncStream<String> { lines(of: output) }

    private func lines(of handle: FileHandle) -> AsyncStream<String> {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        Thread.detachNewThread {
            var rest = Data()
            while case let data = handle.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: 10) {
                    continuation.yield(String(decoding: rest[rest.startIndex..<end], as: UTF8.self))
                    rest = rest[(end + 1)...]
                }
            }
            continuation.finish()
        }
        return stream
    }

    private func read(_ handle: FileHandle) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(returning: String(decoding: handle.readDataToEndOfFile(), as: UTF8.self))
            }
        }
    }
}

private func withCStrings<Value>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Value) -> Value {
    let copies = strings.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    return body(copies + [nil])
}
