import Foundation
import TestSupport
import Testing

/// `healthcheck`, as containers ask it. What `/healthz` says is the daemon's matter.
@Suite struct HealthcheckTests {
    private func check(_ listen: String?, with rest: String = "") async throws -> BuiltProgram.Output {
        try await withTemporaryFolder { (folder) async throws in
            let daemon = listen.map { "[daemon]\nlisten = \"\($0)\"\n" } ?? ""
            try folder.write("[store]\npath = \"store.sqlite\"\n" + daemon + rest, to: "sources.toml")
            return try await BuiltProgram("tributary", config: folder.file("sources.toml")).run("healthcheck")
        }
    }

    @Test func theAnswerIsTheStatus() async throws {
        try await withStubServer { (server) async throws in
            let address = String(server.url.trimmingPrefix("http://"))
            server.route("/healthz") { _ in StubServer.response(200, "well\n") }
            let well = try await check(address)
            #expect(well.status == 0 && well.standardOutput == "well\n", "\(well)")
            server.route("/healthz") { _ in StubServer.response(503, "the scheduler hangs\n") }
            let ill = try await check(address)
            #expect(ill.status == 1, "\(ill)")
            #expect(ill.standardError.contains("\(address)/healthz: 503: the scheduler hangs"), "\(ill)")
        }
    }

    /// The daemon goes on with the configuration that it has.
    @Test(arguments: ["[sources.s]\ncahce = 1\n", "[sources.s]\ncache = \"1", "tokn = 1\n", "[[sources.s.requests]\n"])
    func aFileThatIsBeingEditedIsNoMatter(rest: String) async throws {
        try await withStubServer { (server) async throws in
            server.route("/healthz") { _ in StubServer.response(200, "well\n") }
            let well = try await check(String(server.url.trimmingPrefix("http://")), with: rest)
            #expect(well.status == 0 && well.standardOutput == "well\n", "\(well)")
        }
    }

    @Test func whoDoesNotAnswerIsNotWell() async throws {
        let silent = try await check("127.0.0.1:1")
        #expect(silent.status == 1, "\(silent)")
        #expect(silent.standardError.contains("http://127.0.0.1:1/healthz: the daemon does not answer"), "\(silent)")
        for listen in [nil, "127.0.0.1:0"] {
            let nowhere = try await check(listen)
            #expect(
                nowhere.status == 78 && nowhere.standardError.contains("no address is declared for health checks"),
                "\(nowhere)")
        }
    }
}
