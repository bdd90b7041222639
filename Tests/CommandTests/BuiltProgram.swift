import Foundation
import TestSupport

/// An executable of this package, as it was built beside the tests.
struct BuiltProgram: Sendable {
    let path: String
    var arguments: [String] = []
    var environment: [String: String] = [:]
    /// Bytes of data that the process may have (RLIMIT_DATA); nil for any number.
    var dataLimit: Int?
    /// The user that it runs as; nil for that of the tests. Only root may give another.
    var user: (id: UInt32, group: UInt32)?

    /// A program of the machine's.
    init(path: String, environment: [String: String]) {
        self.path = path
        self.environment = environment
    }

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
