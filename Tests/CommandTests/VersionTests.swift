import Foundation
import TestSupport
import Testing

/// What the program says of itself, and to systemd.
@Suite struct VersionTests {
    @Test func theVersionIsTheChangelogs() async throws {
        let output = try await BuiltProgram("tributary", config: "none").run("--version")
        let found = try #require(output.standardOutput.wholeMatch(of: /tributary (\d+\.\d+\.\d+) \((\w+)\)\n/))
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../CHANGELOG.md")
        let changelog = try String(contentsOf: file, encoding: .utf8)
        let newest = try #require(changelog.firstMatch(of: /\n## \[(.+?)\]/))
        #expect(found.1 == newest.1)
    }

    /// The unit waits for a first source, and is not to wait where the file is wrong.
    @Test func whetherASourceIsEnabledIsToldByTheStatus() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let missing = try await program.run("check", "--has-sources")
            #expect(missing.status == 0, "\(missing)")
            let store = "[store]\npath = \"store.sqlite\"\n"
            let source = "[[sources.s.requests]]\nurl = \"http://127.0.0.1:1/\"\nparser = \"EurofxrefParser\"\n"
            let files: [(String, Int32)] = [
                (store, 1), (store + source, 0), (store + source + "[sources.s]\nenabled = false\n", 1),
                (store + "[sourcse.s]\n", 0),
            ]
            for (file, status) in files {
                try folder.write(file, to: "sources.toml")
                let output = try await program.run("check", "--has-sources")
                #expect(output.status == status, "\(file): \(output)")
                #expect(output.standardError.contains("no source is enabled") == (status == 1), "\(output)")
            }
            #expect(!FileManager.default.fileExists(atPath: folder.file("store.sqlite")))
        }
    }
}
