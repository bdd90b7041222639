import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

#if canImport(Glibc)
    /// Closes the descriptors of a started program from a number on: `posix_spawn_file_actions_addclosefrom_np`, a GNU
    /// extension that the module Glibc omits. C and Swift pass its arguments alike.
    @_silgen_name("posix_spawn_file_actions_addclosefrom_np")
    @discardableResult
    private func closeFiles(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, from first: Int32) -> Int32
#else
    /// Closes the currently open descriptors of a started program, from a number on.
    private func closeFiles(_ actions: UnsafeMutablePointer<posix_spawn_file_actions_t>, from first: Int32) {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
        for file in open.compactMap({ Int32($0) }) where file >= first {
            posix_spawn_file_actions_addclose(actions, file)
        }
    }
#endif

/// One run of a program in a process group of its own. The program has no open files except its input and output. Its
/// output is read, and only the end is kept. After its timeout, the whole group is killed. Runs once, on a thread of its
/// own.
final class ProgramRun: Sendable {
    enum Ending: Sendable, Equatable {
        case exited(Int32)
        case signalled(Int32)
        case timedOut
        case stopped
    }

    /// The reason why a program could not be started.
    struct Problem: Error, CustomStringConvertible {
        var description: String
    }

    /// The time between SIGTERM and SIGKILL.
    private static let grace = Duration.seconds(1)

    private let command: [String]
    private let input: Data
    private let timeout: Duration
    private let clock: any RunClock
    private let threads: any WorkThreads
    /// Wakes the thread when the program has ended, or must be stopped.
    private let wake: ProcessPipe
    private let isStopped = Atomic(false)
    private let hasEnded = Atomic(false)

    init(
        _ command: [String], input: Data, timeout: Duration, _ clock: any RunClock, _ threads: any WorkThreads
    ) throws {
        self.command = command
        self.input = input
        self.timeout = timeout
        self.clock = clock
        self.threads = threads
        wake = try ProcessPipe()
    }

    /// Stops the run.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wake.ring()
    }

    /// Runs the program to its end.
    ///
    /// - Returns: how it ended, and the end of its output.
    func run() throws -> (ending: Ending, output: ProgramOutput) {
        // SIGPIPE would end this process if the program does not read.
        var brokenPipe = sigset_t()
        sigemptyset(&brokenPipe)
        sigaddset(&brokenPipe, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &brokenPipe, nil)
        let standardInput = try ProcessPipe()
        let output = try ProcessPipe()
        let child = try start(standardInput, output)
        let waiter = DispatchSemaphore(value: 0)
        threads.detach { [self] in
            // The program is not reaped yet, so that the number of its group is not reused.
            var information = siginfo_t()
            while waitid(P_PID, id_t(child), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
            hasEnded.store(true, ordering: .releasing)
            wake.ring()
            waiter.signal()
        }
        standardInput.closeReading()
        output.closeWriting()
        var (printed, why) = exchange(standardInput, output)
        if why != nil { end(child) }
        waiter.wait()
        printed.append(output.readAvailable())
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        let ending: Ending = status & 0x7F == 0 ? .exited((status >> 8) & 0xFF) : .signalled(status & 0x7F)
        return (why ?? ending, printed)
    }

    /// Writes the input and reads the output until the program ends, its timeout passes, or it is stopped. Neither
    /// blocks the other. A program may ignore its input.
    private func exchange(_ standardInput: ProcessPipe, _ output: ProcessPipe) -> (printed: ProgramOutput, why: Ending?)
    {
        let deadline = clock.uptime + timeout
        var rest = input[...]
        var printed = ProgramOutput()
        if rest.isEmpty { standardInput.closeWriting() }
        while true {
            if hasEnded.load(ordering: .acquiring) { return (printed, nil) }
            if isStopped.load(ordering: .acquiring) { return (printed, .stopped) }
            let left = deadline - clock.uptime
            if left <= .zero { return (printed, .timedOut) }
            var descriptors = [
                pollfd(fd: wake.readEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: output.readEnd, events: Int16(POLLIN), revents: 0),
                pollfd(fd: standardInput.writeEnd, events: Int16(POLLOUT), revents: 0),
            ]
            _ = poll(&descriptors, 3, Int32(min(left / .milliseconds(1) + 1, 1e9)))
            if descriptors[0].revents != 0 { wake.clear() }
            if descriptors[1].revents != 0 {
                printed.append(output.readAvailable())
                if output.isAtEnd { output.closeReading() }
            }
            if descriptors[2].revents != 0 {
                let count = standardInput.write(rest)
                rest = rest.dropFirst(count ?? 0)
                if count == nil || rest.isEmpty { standardInput.closeWriting() }
            }
        }
    }

    /// Sends SIGTERM to the group, then SIGKILL.
    private func end(_ child: pid_t) {
        kill(-child, SIGTERM)
        let deadline = clock.uptime + Self.grace
        while !hasEnded.load(ordering: .acquiring), clock.uptime < deadline {
            var descriptor = pollfd(fd: wake.readEnd, events: Int16(POLLIN), revents: 0)
            let left = deadline - clock.uptime
            _ = poll(&descriptor, 1, Int32(max(0, left / .milliseconds(1)) + 1))
            if descriptor.revents != 0 { wake.clear() }
        }
        // Also after its end, because other processes of its group may still run.
        kill(-child, SIGKILL)
    }

    // MARK: - Starting

    /// Variables of systemd for the daemon only.
    private static let ownVariables = ["NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_PID", "LISTEN_FDS"]

    private func start(_ standardInput: ProcessPipe, _ output: ProcessPipe) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, standardInput.readEnd, 0)
        posix_spawn_file_actions_adddup2(&actions, output.writeEnd, 1)
        posix_spawn_file_actions_adddup2(&actions, output.writeEnd, 2)
        closeFiles(&actions, from: 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The program must not inherit the daemon's ignored and blocked signals.
        var all = sigset_t()
        sigfillset(&all)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        let environment = ProcessInfo.processInfo.environment.filter { !Self.ownVariables.contains($0.key) }
        let arguments = command.map { strdup($0) } + [nil]
        let variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in arguments + variables { free(text) } }
        var child: pid_t = 0
        let code = ProcessPipe.whileNoneIsMade {
            posix_spawnp(&child, command[0], &actions, &attributes, arguments, variables)
        }
        guard code == 0 else {
            throw Problem(description: String(cString: strerror(code)))
        }
        return child
    }
}

/// The end of a program's output.
struct ProgramOutput: Sendable, Equatable {
    /// The most bytes that are shown.
    private static let mostShown = 1_000
    /// The length of the longest secret that is found, that of the longest environment variable. A secret whose
    /// beginning is not kept cannot be found, so as many bytes are kept and dropped after the redaction.
    private static let longestSecret = 128 << 10
    private static let mostKept = longestSecret + mostShown

    private var bytes = Data()
    /// True if output was dropped.
    private var isCut = false

    mutating func append(_ data: Data) {
        bytes += data
        guard bytes.count > 2 * Self.mostKept else { return }
        bytes = Data(bytes.suffix(Self.mostKept))
        isCut = true
    }

    /// Returns the end in one line.
    ///
    /// - Parameter redact: removes secrets.
    func text(_ redact: (String) -> String) -> String {
        let text = redact(String(decoding: bytes, as: UTF8.self)).utf8
        let end = text.dropFirst(isCut ? Self.longestSecret : 0).suffix(Self.mostShown)
        // Drops a partial character.
        return String(decoding: end.drop { $0 & 0xC0 == 0x80 }, as: UTF8.self).split(whereSeparator: \.isNewline).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        .filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
