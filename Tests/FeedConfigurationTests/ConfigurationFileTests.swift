import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import TributaryEngine

/// What may lie where a configuration's files should be.
@Suite struct ConfigurationFileTests {
    private func problem(_ file: String, environment: [String: String] = [:]) -> String? {
        do {
            _ = try TributaryConfiguration(file: file, parsers: EngineFixture.registry, environment: environment)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test func neitherFoldersNorDevices() async throws {
        try await withTemporaryFolder { (folder) async throws in
            #expect(problem(folder.path) == "\(folder.path): the file is a folder")
            #expect(problem("/dev/zero") == "/dev/zero: the file is neither a regular file nor a pipe")
            #expect(
                problem(folder.file("none"))
                    == "\(folder.file("none")): the file does not exist; the command `init` makes a first one")
            let file = try folder.write("", to: "sources.toml")
            #expect(problem(file) == "\(file): the file is empty; it declares no source")
        }
    }

    @Test func aPipeIsReadAndNeverWaitedForInVain() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let path = folder.file("pipe")
            #expect(mkfifo(path, 0o600) == 0)
            // Nobody writes to it.
            #expect(problem(path)?.contains("the file is empty") == true)
            // Open for reading besides, so that opening it for writing does not wait.
            let pipe = open(path, O_RDWR)
            defer { close(pipe) }
            let failure = #expect(throws: Finding.self) {
                try ConfigurationFile.read(path, timeLimit: 1)
            }
            #expect(failure?.text == "is a pipe to which nothing was written for 1 ms")
        }
    }

    @Test func filesThatTheConfigurationNames() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let file = try folder.write(
                """
                [[sources.s.requests]]
                url = "file:///x"
                parser = "ItemsParser"
                body = { file = "/dev/zero" }
                tls = { ca = "/dev/zero" }
                proxy = "${file:/dev/zero}"
                """, to: "sources.toml")
            let found = try #require(problem(file)).split(separator: "\n")
            #expect(found.count == 3)
            #expect(found.allSatisfy { $0.hasSuffix("the file /dev/zero is not a regular file") })
        }
    }

    @Test func sixteenMebibytesAreTheMost() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let file = folder.file("sources.toml")
            try Data(repeating: UInt8(ascii: "["), count: 16 << 20).write(to: URL(fileURLWithPath: file))
            #expect(try ConfigurationFile.read(file).count == 16 << 20)
            try Data(repeating: UInt8(ascii: "["), count: 16 << 20 | 1).write(to: URL(fileURLWithPath: file))
            #expect(problem(file) == "\(file): the file is larger than 16 MiB, the limit")
        }
    }

    @Test(arguments: [
        ("[#x]", 1), ("[.]", 1), ("[[", 1), ("a=[}", 1), ("[store]\npath = 'a'\0'", 2), ("[store]\n[store]", 2),
    ])
    func whatIsNotTOMLHasALine(text: String, line: Int) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let file = try folder.write(text, to: "sources.toml")
            #expect(problem(file)?.hasPrefix("\(file):\(line): this is not TOML: ") == true)
        }
    }

    @Test func byteOrderMarksAndCarriageReturns() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let file = try folder.write("\u{FEFF}[store]\r\nhistory = \"x\"\r\n", to: "sources.toml")
            #expect(problem(file)?.hasPrefix("\(file):2: store.history: 'x' is not a duration") == true)
        }
    }
}
