import Foundation
import TestSupport
import Testing

/// Health is told whoever else is connected.
@Suite struct HealthListenerTests {
    /// Connects as many clients, which ask nothing, or never to the end.
    private func whileOthersAreConnected(_ count: Int, to port: Int, _ body: () async throws -> Void) async throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var clients: [Int32] = []
        defer { for client in clients { close(client) } }
        for number in 0..<count {
            let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            clients.append(client)
            let code = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(client, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            #expect(code == 0)
            let half = "GET / HTTP/1.1\r\nX: "
            if number % 2 == 0 { send(client, half, half.utf8.count, Int32(MSG_NOSIGNAL)) }
        }
        try await body()
    }

    @Test func idleConnectionsKeepNobodyFromThePage() async throws {
        try await PageFixture.with { (fixture) async throws in
            try await whileOthersAreConnected(600, to: fixture.page.port) { () async throws in
                for path in ["/healthz", "/", "/metrics"] {
                    #expect(try await fixture.page.get(path).status == 200, "\(path)")
                }
            }
        }
    }

    @Test func healthHasAnAddressOfItsOwn() async throws {
        try await PageFixture.with(daemon: "health = \"127.0.0.1:0\"") { (fixture) async throws in
            var port = 0
            try await fixture.wait("the address") {
                let line = fixture.log.text.firstMatch(of: /Health checks are served at 127.0.0.1:(\d+)/)
                port = line.flatMap { Int($0.1) } ?? 0
                return port != 0
            }
            let health = PageClient(port: port)
            try await whileOthersAreConnected(200, to: port) { () async throws in
                let answer = try await health.get("/healthz")
                #expect(answer.status == 200 && answer.body == "ok\n", "\(answer)")
            }
            for path in ["/", "/metrics", "/api/status"] {
                #expect(try await health.get(path).status == 404, "\(path)")
            }
        }
    }

    @Test func aNormalStopLogsNoError() async throws {
        try await PageFixture.with(daemon: "health = \"127.0.0.1:0\"") { (fixture) async throws in
            var port = 0
            try await fixture.wait("the address") {
                let line = fixture.log.text.firstMatch(of: /Health checks are served at 127.0.0.1:(\d+)/)
                port = line.flatMap { Int($0.1) } ?? 0
                return port != 0
            }
            #expect(try await PageClient(port: port).get("/healthz").status == 200)
            // A browser has its page open.
            let open = fixture.page.events("/live?page=%2F")
            for try await part in open where part.contains("data:") { break }
            fixture.daemon.signal(SIGTERM)
            #expect(await fixture.daemon.end() == 0)
            try await fixture.wait("the last line") { fixture.log.text.contains("Stopped") }
            #expect(!fixture.log.text.contains("ERROR"), "\(fixture.log.text)")
        }
    }

    /// It needs no page.
    @Test func healthcheckAsksThere() async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                server.route("/healthz") { _ in StubServer.response(200, "well\n") }
                let address = server.url.trimmingPrefix("http://")
                for listen in ["", "listen = \"127.0.0.1:1\"\n"] {
                    try folder.write(
                        "[store]\npath = \"store.sqlite\"\n[daemon]\n\(listen)health = \"\(address)\"\n",
                        to: "sources.toml")
                    let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                    let answer = try await program.run("healthcheck")
                    #expect(answer.status == 0 && answer.standardOutput == "well\n", "\(answer)")
                }
            }
        }
    }
}
