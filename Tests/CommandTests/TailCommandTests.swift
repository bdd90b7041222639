import Foundation
import TestStores
import TestSupport
import Testing

/// The changelog as lines.
@Suite struct TailCommandTests {
    private struct Line: Decodable, Equatable {
        var line: String
        var id: Int?
        var source: String?
        var table: String?
        var key: String?
        var operation: String?
        var inserted: Int?
        var after: Int?
        var message: String?
    }

    private func lines(_ text: String) throws -> [Line] {
        try text.split(separator: "\n").map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    @Test(.onEachStore) func eachRowIsALineAndEachCommitAnEnd() async throws {
        try await TellingFixture.with(sources: 2) { (fixture) async throws in
            for _ in 0..<2 { _ = try await fixture.program.run("sync", "s0", "--force") }
            _ = try await fixture.program.run("sync", "s1", "--force")
            let all = try lines(try await fixture.program.run("tail", "--json").standardOutput)
            #expect(all.map(\.line) == ["change", "commit", "change", "commit", "change", "commit"])
            #expect(all.compactMap(\.key) == ["1", "2", "1"] && all.compactMap(\.inserted) == [1, 1, 1])
            #expect(all.compactMap(\.source) == ["s0", "s0", "s0", "s0", "s1", "s1"])
            let first = try #require(all[0].id)
            #expect(all[1].after == first)
            let rest = try await fixture.program.run("tail", "--json", "--after", "\(first)")
            #expect(try lines(rest.standardOutput) == Array(all[2...]))
            let last = try #require(all[4].id)
            #expect(try await fixture.program.run("tail", "--after", "\(last)").standardOutput == "")
            let other = try await fixture.program.run("tail", "s1").standardOutput
            #expect(other.hasPrefix("\(last)  s1  insert  thing1  1\n-- s1: run ") && other.contains("1 inserted"))
            let beyond = try await fixture.program.run("tail", "--after", "\(last + 1)")
            #expect(beyond.status == 64 && beyond.standardError.contains("the changelog ends with row \(last)"))
            // The first two commits are forgotten.
            try fixture.store.execute("DELETE FROM tributary_run WHERE source = 's0'")
            try fixture.store.execute("DELETE FROM tributary_change WHERE id < \(last)")
            let forgotten = try lines(
                try await fixture.program.run("tail", "--json", "--after", "\(first)").standardOutput)
            #expect(forgotten.map(\.line) == ["forgotten", "change", "commit"])
            #expect(forgotten[0].message?.contains("begins with row \(last)") == true)
        }
    }

    @Test(.onEachStore) func commitsThatComeAreFollowedUntilASignal() async throws {
        try await TellingFixture.with { (fixture) async throws in
            _ = try await fixture.program.run("sync")
            let tail = try fixture.program.start(["tail", "--follow", "--json"])
            var found: [Line] = []
            for await line in tail.outputLines {
                found += try lines(line)
                if found.count == 2 { _ = try await fixture.program.run("sync", "--force") }
                if found.count == 4 { break }
            }
            #expect(found.compactMap(\.key) == ["1", "2"])
            tail.signal(SIGTERM)
            #expect(await tail.end() == 0)
        }
    }

    @Test func aTailThatNobodyReadsEnds() async throws {
        try await TellingFixture.with { (fixture) async throws in
            _ = try await fixture.program.run("sync")
            let last = try fixture.store.rows("SELECT max(id) FROM tributary_change")[0]
            // It has nothing to write, and must notice all the same.
            let tail = try fixture.program.start(["tail", "--follow", "--after", last])
            try tail.closeOutput()
            #expect(await tail.end() == 0)
        }
    }
}
