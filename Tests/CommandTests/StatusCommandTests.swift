import Foundation
import TestSupport
import Testing

/// What `status` shows of many sources, and how it ends.
@Suite(.timeLimit(.minutes(5))) struct StatusCommandTests {
    /// 30 sources, of which the last one fails and one is switched off.
    private func withFixture(_ body: (BuiltProgram) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let feed = try folder.write("<r><i id='1'/></r>", to: "feed.xml")
            let sources = (10..<40).map { number in
                """
                [sources.s\(number)]
                enabled = \(number != 20)
                [[sources.s\(number).requests]]
                url = "file://\(number == 39 ? folder.file("missing.xml") : feed)"
                tables = [{ table = "t\(number)", element = "i", key = ["id"], columns = { id = "@id" } }]

                """
            }
            let program = BuiltProgram(
                "tributary", config: try folder.write(sources.joined(), to: "sources.toml"))
            let sync = try await program.run("sync")
            let summary = sync.standardOutput.split(separator: "\n").last ?? ""
            #expect(
                sync.status == 1 && summary == "29 sources: 28 committed, 1 discarded; rows: 28 inserted", "\(sync)")
            try await body(program)
        }
    }

    private func names(in output: BuiltProgram.Output) -> [String] {
        output.standardOutput.split(separator: "\n").compactMap { line in
            line.firstMatch(of: #/^(s\d\d) /#).map { String($0.1) }
        }
    }

    @Test func problemsComeFirstAndTheRestIsCounted() async throws {
        try await withFixture { (program) async throws in
            let status = try await program.run("status")
            #expect(status.status == 0 && names(in: status) == ["s39"], "\(status)")
            #expect(status.standardOutput.contains("missing.xml"), "\(status)")
            #expect(status.standardOutput.contains("29 other sources without a problem; --all shows them"), "\(status)")
            let all = try await program.run("status", "--all")
            #expect(names(in: all) == ["s39"] + (10..<39).map { "s\($0)" }, "\(all)")
            let named = try await program.run("status", "s12", "s39")
            #expect(names(in: named) == ["s39", "s12"], "\(named)")
            let failing = try await program.run("status", "--failing")
            #expect(names(in: failing) == ["s39"] && !failing.standardOutput.contains("--all"), "\(failing)")
        }
    }

    @Test func theExitStatusTellsOfProblems() async throws {
        try await withFixture { (program) async throws in
            #expect(try await program.run("status", "--exit-code").status == 1)
            #expect(try await program.run("status", "--exit-code", "--json").status == 1)
            let good = try await program.run("status", "s12", "--exit-code")
            #expect(good.status == 0 && names(in: good) == ["s12"], "\(good)")
            struct Row: Decodable { var source: String }
            struct Printed: Decodable { var sources: [Row] }
            let json = try await program.run("status", "--failing", "--json")
            let rows = try JSONDecoder().decode(Printed.self, from: Data(json.standardOutput.utf8)).sources
            #expect(json.status == 0 && rows.map(\.source) == ["s39"], "\(json)")
        }
    }
}
