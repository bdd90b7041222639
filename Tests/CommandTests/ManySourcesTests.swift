import Foundation
import TestSupport
import Testing

/// Commands over many sources that are alike.
@Suite struct ManySourcesTests {
    private static let requests = 40

    private static func source(_ number: Int, type: String = "integer") -> String {
        """
        [[sources.s\(number).requests]]
        url = "http://127.0.0.1:1/\(number)"
        scope = { source = "s\(number)" }
        tables = [{ table = "item", element = "item", key = ["source", "id"], columns = { source = { value = "s\(number)" }, id = "@id", n = { path = "n", type = "\(type)" } } }]

        """
    }

    private static let store = "[store]\npath = \"store.sqlite\"\n"

    /// The first that is as it should be speaks for those that are alike, and for no others.
    @Test func eachThatIsWrongIsReported() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let good = (0..<Self.requests).map { Self.source($0) }.joined()
            try folder.write(Self.store + good, to: "sources.toml")
            #expect(try await program.run("check").status == 0)

            let wrong = (0..<3).map { Self.source(Self.requests + $0, type: "blob") }.joined()
            try folder.write(Self.store + good + wrong, to: "sources.toml")
            let output = try await program.run("check")
            #expect(output.status == 78)
            let lines = output.standardError.split(separator: "\n").filter { $0.contains("column 'n'") }
            #expect(lines.count == 3, "\(output)")
            for number in 0..<3 { #expect(lines[number].contains("s\(Self.requests + number)"), "\(output)") }
        }
    }

    /// A mistake elsewhere does not keep a source from being shown; a name that is not there is told with all that are.
    @Test func theStatusOfOneReadsThatOneAlone() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            let sources = Self.store + Self.source(1) + Self.source(2)
            try folder.write(sources + "[[sources.s3.requests]]\nurl = 3\n", to: "sources.toml")
            let one = try await program.run("status", "s2", "s2")
            #expect(one.status == 0 && one.standardOutput.contains("s2 "), "\(one)")
            #expect(!one.standardOutput.contains("s1 "), "\(one)")
            #expect(try await program.run("status").status == 78)
            #expect(try await program.run("status", "s3").status == 78)

            try folder.write(sources, to: "sources.toml")
            let unknown = try await program.run("status", "s1", "s9")
            #expect(unknown.status == 64 && unknown.standardError.contains("it has: s1, s2"), "\(unknown)")
        }
    }
}
