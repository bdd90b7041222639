import Foundation
import TestSupport

/// An executable of this package, as it was built beside the tests.
struct BuiltProgram: Sendable {
    let path: String
    var arguments: [String] = []
    var environment: [String: String] = [:]

    struct Output: Sendable {
        var status: Int32
        var standardOutput: String
        var standardError: String
    }

    /// `contacts-daemon` or `tributary`.
    init(_ name: String, config: String, environment: [String: String] = [:]) {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let folder = (bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
        path = folder.appendingPathComponent(name).path
        arguments = ["--config", config]
        self.environment = ["PATH": "/usr/bin:/bin", "SWIFT_BACKTRACE": "enable=no"].merging(environment) { $1 }
    }

    /// Runs a command to its end.
    func run(_ command: String...) async throws -> Output {
        let process = try start(command)
        return await process.output()
    }

    func start(_ command: [String]) throws -> RunningProgram { try RunningProgram(self, command) }
}

/// A process that was started, with what it has printed so far.
final class RunningProgram: Sendable {
    // `Process` is not declared Sendable; after `run` only its identifier and its end are used.
    nonisolated(unsafe) private let process = Process()
    private let output = Pipe()
    private let errors = Pipe()
    let identifier: Int32
    private let ending: Task<Int32, Never>

    init(_ program: BuiltProgram, _ command: [String]) throws {
        process.executableURL = URL(fileURLWithPath: program.path)
        process.arguments = [command[0]] + program.arguments + command.dropFirst()
        process.environment = program.environment
        process.standardOutput = output
        process.standardError = errors
        let (stream, continuation) = AsyncStream<Int32>.makeStream()
        process.terminationHandler = { process in
            continuation.yield(process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus)
            continuation.finish()
        }
        try process.run()
        identifier = process.processIdentifier
        ending = Task {
            for await status in stream { return status }
            return -1
        }
    }

    func signal(_ signal: Int32) { kill(identifier, signal) }

    /// Its exit status; negative for a signal.
    func end() async -> Int32 { await ending.value }

    func output() async -> BuiltProgram.Output {
        async let text = read(output)
        async let errorText = read(errors)
        return await BuiltProgram.Output(status: end(), standardOutput: text, standardError: errorText)
    }

    /// The lines of standard error as they come.
    var errorLines: AsyncStream<String> {
        let (stream, continuation) = AsyncStream<String>.makeStream()
        let handle = errors.fileHandleForReading
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

    private func read(_ pipe: Pipe) async -> String {
        await withCheckedContinuation { continuation in
            let handle = pipe.fileHandleForReading
            Thread.detachNewThread {
                continuation.resume(returning: String(decoding: handle.readDataToEndOfFile(), as: UTF8.self))
            }
        }
    }
}
