import Foundation
import TestSupport

/// A shell in a folder of its own, in which the commands of a document run one after another, as in a terminal: jobs in the
/// background and variables stay.
///
/// Ports that the document names are others here, which the kernel chooses, and the folder has another name; commands and what
/// they print are translated.
final class DocumentShell {
    struct Failure: Error, CustomStringConvertible { var description: String }

    /// The folder of the reader of whom the document tells.
    private static let home = "/home/you/tour"
    /// Stands before the status of a step.
    private static let mark = "\u{1}status"

    private let folder: TemporaryFolder
    private let shell: RunningProgram
    private let input: FileHandle
    private var lines: AsyncStream<String>.Iterator
    /// The words of the document, and what is meant by them here.
    private var words: [(documented: String, actual: String)]

    /// - Parameter words: what stands in the document for something else, such as the address of a feed.
    init(folder: TemporaryFolder, environment: [String: String], words: [String: String] = [:]) throws {
        self.folder = folder
        self.words = [(Self.home, folder.file("tour"))] + words.map { ($0.key, $0.value) }
        try Self.prepare(folder)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let own = [
            "PATH": "\(folder.file("bin")):/usr/bin:/bin:\(path)", "DOCUMENTED": folder.path, "LC_ALL": "C.UTF-8",
            "HOME": folder.path,
        ]
        let program = BuiltProgram(path: "/bin/bash", environment: own.merging(environment) { $1 })
        shell = try program.start([folder.file("bin/shell"), folder.path])
        lines = shell.outputLines.makeAsyncIterator()
        // Opened for both, so that it need not wait for the shell; see fifo(7).
        let pipe = open(folder.file("bin/steps"), O_RDWR | O_CLOEXEC)
        guard pipe >= 0 else { throw Failure(description: "the pipe to the shell cannot be opened: \(errno)") }
        input = FileHandle(fileDescriptor: pipe, closeOnDealloc: true)
    }

    /// Runs the steps in turn.
    ///
    /// - Returns: what is not as the document says, with its line there.
    func differences(_ steps: [DocumentedStep]) async throws -> [String] {
        var differences: [String] = []
        for step in steps {
            let deadline = ContinuousClock.now + .seconds(120)
            var result = try await run(step)
            while step.isRepeated, result.status != 0 || !step.isAnswered(by: result.output),
                ContinuousClock.now < deadline
            {
                try await Task.sleep(for: .milliseconds(20))
                result = try await run(step)
            }
            if result.status != 0 || !step.isAnswered(by: result.output) {
                differences.append(
                    "line \(step.line): \(step.commands)ends with \(result.status), and says:\n\(result.output)")
            }
        }
        return differences
    }

    private func run(_ step: DocumentedStep) async throws -> (status: Int32, output: String) {
        var commands = words.reduce(step.commands) { Self.replacing($1.documented, in: $0, with: $1.actual) }
        if let server = step.server { commands = Self.replacing(server.port, in: commands, with: "0") }
        try input.write(contentsOf: Data(commands.utf8) + [0])
        var output: [String] = []
        while let line = await lines.next(isolation: #isolation) {
            guard line.hasPrefix(Self.mark) else {
                output.append(line)
                continue
            }
            if let server = step.server { words.append((server.port, try await port(server))) }
            let text = output.joined(separator: "\n")
            return (
                Int32(line.dropFirst(Self.mark.count + 1)) ?? -1,
                words.reduce(text) { Self.replacing($1.actual, in: $0, with: $1.documented) }
            )
        }
        throw Failure(description: "the shell ended in line \(step.line)")
    }

    /// The port that a server has written into its log.
    private func port(_ server: DocumentedStep.Server) async throws -> String {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            let log = (try? String(contentsOfFile: folder.file("tour/\(server.log)"), encoding: .utf8)) ?? ""
            if let match = log.firstMatch(of: /port (\d+)\b/) { return String(match.1) }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw Failure(description: "\(server.log) names no port")
    }

    private static func replacing(_ word: String, in text: String, with other: String) -> String {
        let pattern = "(?<![0-9A-Za-z])\(NSRegularExpression.escapedPattern(for: word))(?![0-9A-Za-z])"
        return text.replacingOccurrences(of: pattern, with: other, options: .regularExpression)
    }

    // MARK: - Begin and end

    private static func prepare(_ folder: TemporaryFolder) throws {
        for name in ["bin", "tour"] {
            try FileManager.default.createDirectory(atPath: folder.file(name), withIntermediateDirectories: true)
        }
        // What has changed since a program last ran gets another second, as it would have with a reader's: servers tell
        // versions apart by the second.
        try folder.write(
            """
            #!/bin/sh
            for file in $(find "$DOCUMENTED/tour" -path '*/www/*' -type f -newer "$DOCUMENTED/bin/limit"); do
                second=$(($(stat -c %Y "$DOCUMENTED/bin/clock") + 1))
                touch -d "@$second" "$DOCUMENTED/bin/clock" "$file"
            done
            exec '\(BuiltProgram("tributary", config: "").path)' "$@"

            """, to: "bin/wrapper")
        for (name, days) in [("clock", 2.0), ("limit", 1.0)] {
            try folder.write("", to: "bin/\(name)")
            let past = Date(timeIntervalSinceNow: -days * 86_400)
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSince1970: past.timeIntervalSince1970.rounded())],
                ofItemAtPath: folder.file("bin/\(name)"))
        }
        guard mkfifo(folder.file("bin/steps"), 0o600) == 0 else {
            throw Failure(description: "no pipe can be made in \(folder.path): \(errno)")
        }
        try folder.write(
            """
            set -m
            exec 2>&1 3< "$1/bin/steps"
            # Copied by a process of its own: what this process has open for writing, a program that another test starts
            # just then may have open, too, and what is open for writing cannot be run.
            install -m 755 "$1/bin/wrapper" "$1/bin/tributary"
            cd "$1/tour"
            while IFS= read -r -d '' -u 3 step; do
                eval "$step" 3<&-
                printf '\\n\(mark) %s\\n' $?
            done

            """, to: "bin/shell")
    }

    /// Ends the shell and whatever its steps have started and not ended.
    func end() async throws {
        for process in Self.processes(with: "DOCUMENTED=\(folder.path)") { kill(process, SIGKILL) }
        _ = await shell.end()
        try input.close()
    }

    /// The processes that have this in their environment, as `proc(5)` shows it.
    private static func processes(with variable: String) -> [pid_t] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return names.compactMap { pid_t($0) }.filter { process in
            let environment = FileManager.default.contents(atPath: "/proc/\(process)/environ") ?? Data()
            return environment.split(separator: 0).contains(Data(variable.utf8))
        }
    }
}
