import Foundation
import TestSupport
import Testing

/// Processes that end while a run waits for a job (`until`).
@Suite(.timeLimit(.minutes(5))) struct UntilCommandTests {
    private struct Fixture {
        let server: StubServer
        let folder: TemporaryFolder
        let program: BuiltProgram
        var storePath: String { folder.file("store.sqlite") }

        /// Waits until a process has asked for the state twice more: it waited in between.
        func waitForJob(_ process: RunningProgram) async throws {
            let before = server.requests("/state").count
            while server.requests("/state").count < before + 2 { try await Task.sleep(for: .milliseconds(2)) }
        }
    }

    /// A job that never ends.
    private func withJob(_ body: (Fixture) async throws -> Void) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                let running = StubServer.response(200, "<job state='running'/>")
                server.route("/submit") { _ in StubServer.response(200, "<job id='1'/>") }
                server.route("/state") { _ in running }
                server.document("/report", "<sales><sale id='1'/></sales>")
                let text = """
                    [store]
                    path = "store.sqlite"
                    [[sources.sales.requests]]
                    url = "\(server.url)/submit"
                    method = "POST"
                    capture = { job = "/job/@id" }
                    [[sources.sales.requests]]
                    url = "\(server.url)/state"
                    parameters = { job = "${capture:job}" }
                    until = { path = "/job/@state", is = ["done"], every = "1s", within = "1h" }
                    [[sources.sales.requests]]
                    url = "\(server.url)/report"
                    tables = [{ table = "sale", element = "sale", key = ["id"], columns = { id = "@id" } }]
                    """
                let program = BuiltProgram("tributary", config: try folder.write(text, to: "sources.toml"))
                try await body(Fixture(server: server, folder: folder, program: program))
            }
        }
    }

    @Test(arguments: [(["run"], SIGTERM, Int32(0)), (["sync"], SIGTERM, -SIGTERM), (["plan"], SIGTERM, -SIGTERM)])
    func aSignalEndsTheWait(command: [String], signal: Int32, status: Int32) async throws {
        try await withJob { fixture in
            let process = try fixture.program.start(command)
            try await fixture.waitForJob(process)
            process.signal(signal)
            #expect(await process.end() == status)
            #expect(fixture.server.requests("/report").isEmpty)
        }
    }

    /// A process that is killed while it waits is no reason to pause the source, however often that happens. The next run submits
    /// a job of its own.
    @Test func aKilledProcessIsNoDeathOfTheSource() async throws {
        try await withJob { fixture in
            for _ in 0..<4 {
                let process = try fixture.program.start(["sync", "--force"])
                try await fixture.waitForJob(process)
                process.signal(SIGKILL)
                #expect(await process.end() == -SIGKILL)
                let attempts = "SELECT CAST(attempts AS TEXT) FROM tributary_source"
                #expect(try await sqlite(fixture.storePath, attempts) == "0")
            }
            fixture.server.route("/state") { _ in StubServer.response(200, "<job state='done'/>") }
            let output = try await fixture.program.run("sync", "--force")
            #expect(output.status == 0 && output.standardOutput.contains("committed"), "\(output)")
            #expect(fixture.server.requests("/submit").count == 5)
            #expect(try await sqlite(fixture.storePath, "SELECT id FROM sale") == "1")
        }
    }
}
