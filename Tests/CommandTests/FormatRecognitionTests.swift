import Foundation
import TestSupport
import Testing

/// A format that no media type shows: from the suffix of an address, and for a proposal from the first lines.
@Suite struct FormatRecognitionTests {
    private static let prices = "sku;name;price\na;Tea;2,50\nb;Jam;3,00\n"

    private struct Fixture {
        let folder: TemporaryFolder
        let server: StubServer

        var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

        func serve(_ path: String, _ body: String, type: String?) {
            server.route(path) { _ in StubServer.response(200, body, type.map { ["Content-Type": $0] } ?? [:]) }
        }

        func declare(_ request: String, source: String = "") throws {
            try folder.write(
                """
                [sources.s]
                \(source)
                [[sources.s.requests]]
                \(request)
                [[sources.s.requests.tables]]
                table = "item"
                element = "row"
                key = ["sku"]
                columns = { sku = "sku", name = "name" }

                """, to: "sources.toml")
        }

        /// The output of a sync that fails.
        func sync() async throws -> String {
            let output = try await program.run("sync", "--force")
            #expect(output.status == 1)
            return output.standardOutput + output.standardError
        }

        func rows() throws -> [String] {
            try dumpRows(path: folder.file("tributary.sqlite")).filter { $0.hasPrefix("item:") }
        }
    }

    private func with(_ body: (Fixture) async throws -> Void) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { folder in try await body(Fixture(folder: folder, server: server)) }
        }
    }

    @Test(arguments: [
        nil, "text/plain", "application/octet-stream", "binary/octet-stream", "application/vnd.ms-excel", "text/csv",
    ])
    func theSuffixShowsCSV(type: String?) async throws {
        try await with { (fixture) async throws in
            fixture.serve("/out/prices.csv", Self.prices, type: type)
            let address = fixture.server.url + "/out/prices.csv?day=1"
            let proposal = try await fixture.program.run("infer", address)
            #expect(proposal.status == 0, "\(proposal)")
            let expected = "format = \"csv\"\ncsv = { delimiter = \";\" }\n"
            #expect(proposal.standardOutput.contains(expected), "\(proposal)")
            // A declaration without a format.
            fixture.serve("/out/prices.csv", "sku,name\na,Tea\n", type: type)
            try fixture.declare("url = \"\(address)\"\nkeep_bodies = 1")
            let sync = try await fixture.program.run("sync")
            #expect(sync.status == 0, "\(sync)")
            #expect(try fixture.rows().count == 1)
            // A kept body has no address, but its format.
            let replay = try await fixture.program.run("replay", "s", "--yes")
            #expect(replay.status == 0, "\(replay)")
        }
    }

    @Test func otherSuffixes() async throws {
        try await with { (fixture) async throws in
            let lines = "{\"sku\": \"a\", \"name\": \"Tea\"}\n{\"sku\": \"b\", \"name\": \"Jam\"}\n"
            for (path, body) in [
                ("/a.tsv", "sku\tname\na\tTea\nb\tJam\n"), ("/a.tab", "sku\tname\na\tTea\nb\tJam\n"),
                ("/a.jsonl", lines),
                ("/a.ndjson", lines),
            ] {
                fixture.serve(path, body, type: "text/plain; charset=utf-8")
                try fixture.declare("url = \"\(fixture.server.url)\(path)\"")
                let sync = try await fixture.program.run("sync", "--full")
                #expect(sync.status == 0, "\(path): \(sync)")
                #expect(try fixture.rows().count == 2)
            }
        }
    }

    @Test func aProposalRecognisesLinesOfValues() async throws {
        try await with { (fixture) async throws in
            try fixture.folder.write(
                "trip_id,stop_id,note\nt1,a,\"one, two\"\nt1,b,\nt2,a,\"three\nfour\"\n", to: "stop_times.txt")
            let first = try await fixture.program.run("init", fixture.folder.file("stop_times.txt"), "--yes")
            #expect(first.status == 0 && first.standardOutput.contains("3 inserted"), "\(first)")
            fixture.serve("/prices", Self.prices, type: "text/plain")
            let prices = try await fixture.program.run("infer", fixture.server.url + "/prices")
            #expect(prices.standardOutput.contains("csv = { delimiter = \";\" }"), "\(prices)")
            fixture.serve("/a.json", "{\"sku\": \"a\"}\n{\"sku\": \"b\"}\n", type: "application/json")
            let lines = try await fixture.program.run("infer", fixture.server.url + "/a.json")
            #expect(lines.standardOutput.contains("format = \"jsonl\""), "\(lines)")
        }
    }

    @Test func whatNothingShowsIsNamed() async throws {
        try await with { (fixture) async throws in
            fixture.serve("/a", "id\n1\n2\n", type: "text/plain")
            let address = fixture.server.url + "/a"
            let proposal = try await fixture.program.run("infer", address)
            let expected =
                "the body begins with 'id', which is neither XML nor JSON; if it is CSV, set format = \"csv\""
            #expect(proposal.status == 1 && proposal.standardError.contains(expected), "\(proposal)")
            #expect(proposal.standardError.contains("--format csv"), "\(proposal)")
            try fixture.declare("url = \"\(address)\"")
            #expect(try await fixture.sync().contains(expected))
            fixture.serve("/a", "BZh91AY&SY", type: nil)
            #expect(try await fixture.sync().contains("the body is compressed by bzip2; set documents"))
            fixture.serve("/a", "\u{1}\u{2}abc", type: nil)
            #expect(try await fixture.sync().contains("begins with the bytes 1 2 61"))
            fixture.serve("/a", "{\"sku\": \"a\"}\n{\"sku\": \"b\"}\n", type: nil)
            let lines = try await fixture.sync()
            #expect(lines.contains("if each line is an object, set format = \"jsonl\""), "\(lines)")
            let given = try await fixture.program.run(
                "init", "-c", fixture.folder.file("new.toml"), address, "--format", "jsonl", "--yes")
            #expect(given.status == 0 && given.standardOutput.contains("2 inserted"), "\(given)")
        }
    }
}
