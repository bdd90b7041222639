import Foundation
import TestStores
import TestSupport
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// `/metrics` and `/healthz` of the built daemon.
@Suite(.timeLimit(.minutes(10))) struct DaemonMetricsTests {
    struct Answer {
        var status: Int
        var type: String
        var text: String

        func value(_ series: String) -> Double? {
            text.split(separator: "\n").first { $0.hasPrefix(series + " ") }
                .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
        }
    }

    /// A daemon that runs, and where it listens.
    private struct Listening {
        let daemon: RunningProgram
        let address: String

        func get(_ path: String) async throws -> Answer {
            let url = try #require(URL(string: address + path))
            let (data, response) = try await URLSession.shared.data(from: url)
            let head = try #require(response as? HTTPURLResponse)
            return Answer(
                status: head.statusCode, type: head.value(forHTTPHeaderField: "Content-Type") ?? "",
                text: String(decoding: data, as: UTF8.self))
        }

        /// Asks until the answer is as it should be.
        func get(_ path: String, _ what: String, until isRight: (Answer) -> Bool) async throws -> Answer {
            let deadline = ContinuousClock.now + .seconds(180)
            while true {
                let answer = try await get(path)
                if isRight(answer) { return answer }
                guard ContinuousClock.now < deadline else {
                    throw TellingFixture.Late(description: "\(what): \(answer.text.suffix(3000))")
                }
                try await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private static let listening = "[daemon]\nlisten = \"127.0.0.1:0\"\n"

    private func withDaemon(_ program: BuiltProgram, _ body: (Listening) async throws -> Void) async throws {
        let daemon = try program.start(["run"])
        let result: Result<Void, any Error>
        do {
            var address: String?
            for await line in daemon.errorLines {
                address = line.firstMatch(of: /The page is at (http:\/\/[0-9.:]+)\//).map { String($0.1) }
                if address != nil { break }
            }
            result = .success(try await body(Listening(daemon: daemon, address: #require(address))))
        } catch {
            result = .failure(error)
        }
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        try result.get()
    }

    @Test(.onEachStore) func aDaemonTellsWhatItDoes() async throws {
        try await TellingFixture.with(sources: 2, hooks: Self.listening) { (fixture) async throws in
            try await withDaemon(fixture.program) { web in
                let runs = ["s0", "s1"].map { "tributary_runs_total{outcome=\"committed\",source=\"\($0)\"}" }
                let answer = try await web.get("/metrics", "runs") { answer in
                    runs.allSatisfy { answer.value($0) == 1 } && answer.value("tributary_healthy{check=\"store\"}") == 1
                        && answer.value("tributary_sources{state=\"ok\"}") == 2
                }
                #expect(answer.status == 200 && answer.type == "text/plain; version=0.0.4; charset=utf-8")
                #expect(answer.value("process_resident_memory_bytes") ?? 0 > 1e6)
                #expect(answer.text.contains("\ntributary_build_info{commit=\""))
                if Tool.isInstalled("promtool") {
                    let file = try fixture.folder.write(answer.text, to: "metrics.txt")
                    let check = try Tool("promtool", ["check", "metrics"], input: file, in: fixture.folder)
                    let status = await check.end()
                    #expect(status == 0 && check.output.isEmpty, "\(check.output)")
                }
                let health = try await web.get("/healthz")
                #expect(health.status == 200 && health.text == "ok\n")
            }
        }
    }

    @Test func aFeedThatFailsIsNoMatterOfHealth() async throws {
        try await TellingFixture.with(hooks: Self.listening) { (fixture) async throws in
            fixture.server.route("/s0") { _ in StubServer.response(500, "") }
            try await withDaemon(fixture.program) { web in
                _ = try await web.get("/metrics", "a failure") {
                    $0.value("tributary_consecutive_failures{source=\"s0\"}") == 1
                }
                let health = try await web.get("/healthz")
                #expect(health.status == 200 && health.text == "ok\n")
            }
        }
    }

    /// systemd's watchdog is told that all is well: a new process would not make room.
    @Test(.enabled(if: SmallDisk.isPossible)) func aFullDiskIsTold() async throws {
        try await TellingFixture.with(hooks: Self.listening) { (fixture) async throws in
            let disk = try SmallDisk(in: fixture.folder)
            defer { disk.remove() }
            let text = try String(contentsOfFile: fixture.folder.file("sources.toml"), encoding: .utf8)
            try fixture.folder.write(
                text.replacing("path = \"store.sqlite\"", with: "path = \"disk/store.sqlite\""), to: "sources.toml")
            let socket = try NotifySocket(path: fixture.folder.file("notify"))
            defer { socket.close() }
            var program = fixture.program
            program.environment["NOTIFY_SOCKET"] = socket.path
            program.environment["WATCHDOG_USEC"] = "100000"
            try await withDaemon(program) { web in
                _ = try await web.get("/healthz", "health") { $0.status == 200 }
                try disk.suffer(.full)
                let answer = try await web.get("/healthz", "a full disk") { $0.status == 503 }
                #expect(answer.text.contains("disk/store.sqlite cannot be written: No space left on device; make room"))
                #expect(socket.next { $0.hasPrefix("STATUS=") && $0.contains("No space left on device") } != nil)
                #expect(socket.next { $0 == "WATCHDOG=1" } != nil)
                try disk.mend(.full)
                _ = try await web.get("/healthz", "room") { $0.status == 200 }
            }
        }
    }
}
