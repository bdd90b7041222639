import Foundation
import TestSupport
import Testing

/// What the package installs beside the program. `Scripts/trials/package` installs it.
@Suite struct PackageTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../..").standardizedFileURL

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The value of a key of the unit.
    private func unit(_ key: String) throws -> String {
        let lines = try text("Scripts/tributary.service").split(separator: "\n")
        let line = try #require(lines.first { $0.hasPrefix(key + "=") })
        return String(line.dropFirst(key.count + 1))
    }

    @Test func theInstalledConfigurationIsSoundAndWaitsForASource() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let installed = try text("Packaging/sources.toml")
                .replacing("/var/lib/tributary/tributary.sqlite", with: folder.file("tributary.sqlite"))
            #expect(installed.contains("listen = \"127.0.0.1:8090\""))
            let declared = installed.replacing(/(?m)^#(?=\S)/, with: "")
            for (file, sources) in [(installed, 0), (declared, 1)] {
                try folder.write(file, to: "sources.toml")
                let check = try await program.run("check")
                #expect(check.status == 0 && check.standardOutput.contains("\(sources) source"), "\(check)")
                #expect(try await program.run("check", "--has-sources").status == 1 - Int32(sources))
            }
        }
    }

    @Test func theUnitsCommandsAreTheProgramsOwn() async throws {
        for key in ["ExecCondition", "ExecStart"] {
            let words = try unit(key).split(separator: " ").map(String.init)
            #expect(words.first == "/usr/bin/tributary")
            let configuration = try #require(words.firstIndex(of: "--config"))
            #expect(words[configuration + 1] == "/etc/tributary/sources.toml")
            var program = BuiltProgram("tributary", config: "none")
            // A wrong word would be wrong usage (64), whatever else is asked.
            program.arguments = Array(words[2..<configuration]) + ["--help"]
            let output = try await program.start([words[1]]).output()
            #expect(output.status == 0 && output.standardOutput.contains("USAGE:"), "\(words): \(output)")
        }
        #expect(try unit("ExecStartPre").hasSuffix(" /var/lib/" + unit("StateDirectory")))
    }

    /// The whole of it, with packages that were built: some minutes, as root, with the network.
    @Test(.enabled(if: ProcessInfo.processInfo.environment["TRIBUTARY_PACKAGES"] != nil))
    func thePackageIsInstalledUsedUpgradedAndRemoved() async throws {
        let process = Process()
        process.executableURL = Self.root.appendingPathComponent("Scripts/trials/package")
        process.arguments = [ProcessInfo.processInfo.environment["TRIBUTARY_PACKAGES"] ?? ""]
        let status = await withCheckedContinuation { continuation in
            process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
            do {
                try process.run()
            } catch {
                continuation.resume(returning: -1)
            }
        }
        #expect(status == 0)
    }
}
