import Foundation
import TestSupport
import Testing

/// `sync --from --to`: an earlier span of a source with `slices`.
@Suite(.timeLimit(.minutes(5))) struct SliceCommandTests {
    private func withSales(_ body: (StubServer, BuiltProgram) async throws -> Void) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                server.route("/sales") { request in
                    let day = request.query.dropFirst("from=".count).prefix(10)
                    return StubServer.response(200, "<sales><sale id='\(day)'/></sales>")
                }
                server.document("/other", "<sales><sale id='1'/></sales>")
                let tables = "[{ table = \"sale\", element = \"sale\", key = [\"id\"], columns = { id = \"@id\" } }]"
                let text = """
                    [store]
                    path = "store.sqlite"
                    [sources.sales]
                    cache = "1h"
                    [[sources.sales.requests]]
                    url = "\(server.url)/sales"
                    parameters = { from = "${slice:from}", to = "${slice:to}" }
                    slices = { from = "2026-01-01", to = "2026-01-02" }
                    tables = \(tables)
                    [[sources.other.requests]]
                    url = "\(server.url)/other"
                    tables = \(tables)
                    """
                try await body(server, BuiltProgram("tributary", config: try folder.write(text, to: "sources.toml")))
            }
        }
    }

    @Test func anEarlierSpanIsLoadedBesideTheDeclaredOne() async throws {
        try await withSales { server, program in
            #expect(try await program.run("sync", "sales").status == 0)
            // The source is not due.
            let output = try await program.run("sync", "sales", "--from", "2025-01-01", "--to", "2025-01-03")
            #expect(output.status == 0 && output.standardOutput.contains("committed"), "\(output)")
            #expect(
                server.requests("/sales").map(\.query).sorted() == [
                    "from=2025-01-01&to=2025-01-02", "from=2025-01-02&to=2025-01-03", "from=2026-01-01&to=2026-01-02",
                ])
            // The declaration has not changed.
            _ = try await program.run("sync", "sales")
            #expect(server.requests("/sales").count == 3)
        }
    }

    @Test func aPlanShowsAnEarlierSpan() async throws {
        try await withSales { server, program in
            let process = try program.start(["plan", "sales", "--from", "2025-01-01", "--to", "2025-01-02"])
            let output = await process.output()
            #expect(output.status == 2 && output.standardOutput.contains("2025-01-01"), "\(output)")
            #expect(server.requests("/sales").map(\.query) == ["from=2025-01-01&to=2025-01-02"])
        }
    }

    /// The span is no run that is due: the source is neither failing nor due at another time.
    @Test func aSpanThatFailsLeavesTheSourceAsItWas() async throws {
        try await withSales { server, program in
            #expect(try await program.run("sync", "sales").status == 0)
            let before = try await program.run("status", "sales", "--json").standardOutput
            server.route("/sales") { _ in StubServer.response(404, "") }
            let process = try program.start(["sync", "sales", "--from", "2025-01-01", "--to", "2025-01-02"])
            let output = await process.output()
            #expect(output.status == 1 && output.standardOutput.contains("404"), "\(output)")
            #expect(try await program.run("status", "sales", "--json").standardOutput == before)
        }
    }

    @Test(arguments: [
        (["--from", "2025-01-01"], "--from and --to need the name of one source"),
        (["sales", "other", "--to", "2025-01-01"], "--from and --to need the name of one source"),
        (["other", "--from", "2025-01-01"], "no request of the source 'other' has 'slices'"),
        (["sales", "--from", "soon"], "'--from' is neither a day (2026-01-31) nor a time"),
        (["sales", "--from", "2025-01-02", "--to", "2025-01-01"], "--to is earlier than --from"),
    ])
    func aSpanThatCannotBeLoadedIsRefused(options: [String], expected: String) async throws {
        try await withSales { server, program in
            let process = try program.start(["sync"] + options)
            let output = await process.output()
            #expect(output.status == 64 && output.standardError.contains(expected), "\(output)")
            #expect(server.requests().isEmpty)
        }
    }
}
