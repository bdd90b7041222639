import Foundation
import TestSupport
import Testing

/// A source of which processes die.
@Suite struct PoisonTests {
    private static var poison: [StubServer.Step] {
        [StubServer.head(200, [:]), .send(Array("<companies>".utf8)), .hang]
    }

    private func withPoison(_ body: (ContactsFixture) async throws -> Void) async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 5)
            fixture.server.route("/poison.xml") { _ in Self.poison }
            let sources = try String(contentsOfFile: fixture.folder.file("sources.toml"), encoding: .utf8)
            try fixture.folder.write(
                sources
                    + "\n[[sources.poison.requests]]\nurl = \"\(fixture.server.url)/poison.xml\"\nparser = \"CompaniesParser\"\ntimeout = \"10m\"\n",
                to: "sources.toml")
            try await body(fixture)
        }
    }

    /// Returns the noted attempts of the source; nil before its first.
    private func attempts(_ fixture: ContactsFixture) async throws -> String? {
        // A connection would create the file.
        guard FileManager.default.fileExists(atPath: fixture.storePath) else { return nil }
        return try? await sqlite(
            fixture.storePath, "SELECT CAST(attempts AS TEXT) FROM tributary_source WHERE source = 'poison'")
    }

    private func dieDuringARun(_ fixture: ContactsFixture) async throws {
        let before = try await attempts(fixture)
        let process = try fixture.program.start(["sync", "poison", "--force"])
        while try await attempts(fixture) ?? before == before { try await Task.sleep(for: .milliseconds(2)) }
        process.signal(SIGKILL)
        #expect(await process.end() == -SIGKILL)
    }

    @Test func aSourceOfWhichTheProcessDiedThreeTimesIsHeldAndTheOthersGoOn() async throws {
        try await withPoison { fixture in
            for _ in 0..<3 { try await dieDuringARun(fixture) }
            let all = try await fixture.program.run("sync")
            #expect(all.status == 1)
            #expect(all.standardOutput.contains("directory  committed"))
            #expect(all.standardOutput.contains("died 3 times in a row"))
            #expect(fixture.server.requests("/poison.xml").count == 3)
            let status = try await fixture.program.run("status", "--json")
            #expect(status.standardOutput.contains("tributary resume poison"))

            fixture.server.document("/poison.xml", "<companies><company id='x'><name>X</name></company></companies>")
            let resumed = try await fixture.program.run("resume", "poison", "directory")
            #expect(resumed.standardOutput == "poison is resumed\ndirectory is not paused\n")
            #expect(try await fixture.program.run("sync", "poison").standardOutput.contains("committed"))
        }
    }

    @Test func aHeldSourceIsTriedByHandOrWhenItIsDeclaredDifferently() async throws {
        try await withPoison { fixture in
            for _ in 0..<3 { try await dieDuringARun(fixture) }
            #expect(try await fixture.program.run("sync", "poison").status == 1)
            let answer = "<companies><company id='x'><name>X</name></company></companies>"
            fixture.server.document("/poison.xml", answer)
            #expect(try await fixture.program.run("sync", "poison", "--force").standardOutput.contains("committed"))
            #expect(try await fixture.program.run("resume", "poison").standardOutput == "poison is not paused\n")

            fixture.server.route("/poison.xml") { _ in Self.poison }
            for _ in 0..<3 { try await dieDuringARun(fixture) }
            fixture.server.document("/poison.xml", answer)
            let sources = try String(contentsOfFile: fixture.folder.file("sources.toml"), encoding: .utf8)
            try fixture.folder.write(sources + "connect_timeout = \"9s\"\n", to: "sources.toml")
            #expect(try await fixture.program.run("sync", "poison").standardOutput.contains("unchanged"))
        }
    }

    @Test func aServerThatDoesNotAnswerIsNoSuspect() async throws {
        try await withPoison { fixture in
            fixture.server.route("/poison.xml") { _ in [.hang] }
            for _ in 0..<4 {
                let before = fixture.server.requests("/poison.xml").count
                let process = try fixture.program.start(["sync", "poison", "--force"])
                while fixture.server.requests("/poison.xml").count == before {
                    try await Task.sleep(for: .milliseconds(2))
                }
                process.signal(SIGKILL)
                #expect(await process.end() == -SIGKILL)
            }
            fixture.server.document("/poison.xml", "<companies><company id='x'><name>X</name></company></companies>")
            #expect(try await fixture.program.run("sync", "poison").standardOutput.contains("committed"))
        }
    }

    @Test func aRunThatEndsIsNoDeath() async throws {
        try await withPoison { fixture in
            for _ in 0..<4 {
                let before = fixture.server.requests("/poison.xml").count
                let process = try fixture.program.start(["sync", "poison", "--force"])
                while fixture.server.requests("/poison.xml").count == before {
                    try await Task.sleep(for: .milliseconds(2))
                }
                process.signal(SIGINT)
                #expect(await process.output().standardOutput.contains("cancelled"))
            }
        }
    }
}
