import Foundation
import TestStores
import TestSupport
import Testing

/// Hooks as those see them who operate the daemon.
@Suite struct HookCommandTests {
    private static let post = "[hooks.chat]\non = [\"changed\"]\npost = \"URL/hook\"\n"

    @Test(.onEachStore) func statusShowsHowFarAHookHasCome() async throws {
        try await TellingFixture.with(hooks: Self.post) { (fixture) async throws in
            fixture.server.route("/hook") { _ in StubServer.response(500, "") }
            _ = try await fixture.program.run("sync")
            let before = try await fixture.program.run("status")
            #expect(before.standardOutput.contains("a daemon"))
            let daemon = try fixture.program.start(["run"])
            defer { daemon.signal(SIGKILL) }
            try await fixture.wait("the hook") { try !fixture.store.rows("SELECT 1 FROM tributary_hook").isEmpty }
            // By another process.
            _ = try await fixture.program.run("sync", "--force")
            try await fixture.wait("the attempt") {
                try fixture.store.rows("SELECT error FROM tributary_hook").first?.contains("500") == true
            }
            let waiting = try await fixture.program.run("status")
            #expect(waiting.standardOutput.contains("chat") && waiting.standardOutput.contains("answered 500"))
            #expect(waiting.standardOutput.contains("a retry "))
            fixture.server.route("/hook") { _ in StubServer.response(204, "") }
            try await fixture.wait("the delivery") {
                try fixture.store.rows("SELECT attempts, run FROM tributary_hook") == ["0|2"]
            }
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0)
            let json = try await fixture.program.run("status", "--json").standardOutput
            let printed = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any] ?? [:]
            let sources = try #require(printed["sources"] as? [[String: Any]])
            #expect(sources.count == 1 && sources[0]["state"] as? String == "ok")
            let hook = try #require((printed["hooks"] as? [[String: Any]])?.first)
            #expect(hook["hook"] as? String == "chat" && hook["state"] as? String == "waiting")
            #expect(hook["behind"] as? Int == 0 && hook["delivered_at"] is String)
        }
    }

    @Test func aHookIsTried() async throws {
        try await TellingFixture.with(hooks: Self.post) { (fixture) async throws in
            let good = try await fixture.program.run("hook", "test", "chat")
            #expect(good.status == 0 && good.standardOutput.hasPrefix("chat: delivered (204) in "))
            let body = try #require(fixture.server.requests("/hook").first?.body)
            #expect(body.contains("\"type\":\"test\"") && body.contains("\"test\":true"))
            fixture.server.route("/hook") { _ in StubServer.response(404, "") }
            let bad = try await fixture.program.run("hook", "test", "chat", "--json")
            #expect(bad.status == 1 && bad.standardOutput.contains("answered 404"))
            let unknown = try await fixture.program.run("hook", "test", "char")
            #expect(unknown.status == 64 && unknown.standardError.contains("there are 'chat'"))
            let bare = try await fixture.program.run("hook")
            #expect(bare.status == 64 && bare.standardError.contains("'hook' needs a subcommand"), "\(bare)")
        }
    }

    @Test func checkTellsOfProgramsThatCannotBeStarted() async throws {
        let hooks = """
            [hooks.absent]
            on = ["blocked"]
            run = ["/nowhere/notify"]
            [hooks.plain]
            on = ["blocked"]
            run = ["./plain", "argument"]
            [hooks.unknown]
            on = ["blocked"]
            run = ["no-such-program-anywhere"]
            [hooks.good]
            on = ["blocked"]
            run = ["true"]
            """
        try await TellingFixture.with(hooks: hooks) { (fixture) async throws in
            try fixture.folder.write("", to: "plain")
            let check = try await fixture.program.run("check")
            #expect(check.status == 78)
            for expected in [
                "hooks.absent.run: the program '/nowhere/notify' does not exist",
                "hooks.plain.run: the program './plain' is not executable",
                "hooks.unknown.run: the program 'no-such-program-anywhere' is in no folder of PATH",
            ] {
                #expect(check.standardError.contains(expected), "\(check.standardError)")
            }
            #expect(!check.standardError.contains("hooks.good"))
        }
    }
}
