import Foundation
import Synchronization
import TestSupport
import Testing

/// Which tokens let a client in after `[daemon]` has been read again.
struct TokenReloadTests {
    private static func bearer(_ token: String) -> [String: String] { ["Authorization": "Bearer \(token)"] }

    /// Replaces a text in the configuration, and waits until the daemon has read it.
    private static func reload(_ fixture: PageFixture, _ old: String, _ new: String) async throws {
        func count() -> Int { fixture.log.text.matches(of: /Configuration reloaded/).count }
        let before = count()
        let file = fixture.folder.file("sources.toml")
        try fixture.folder.write(
            try String(contentsOfFile: file, encoding: .utf8).replacing(old, with: new), to: "sources.toml")
        fixture.daemon.signal(SIGHUP)
        try await fixture.wait("the configuration is read again") { count() > before }
    }

    /// Follows events until the daemon ends them.
    private static func follow(_ fixture: PageFixture, _ path: String, _ token: String) async throws -> Task<
        Void, any Error
    > {
        let following = Flag()
        let task = Task {
            for try await part in fixture.page.events(path, bearer(token)) where part.contains("200 OK") {
                following.note()
            }
        }
        try await fixture.wait("\(path) is followed") { following.isNoted }
        return task
    }

    private final class Flag: Sendable {
        private let flag = Mutex(false)

        var isNoted: Bool { flag.withLock { $0 } }

        func note() { flag.withLock { $0 = true } }
    }

    @Test(.timeLimit(.minutes(3))) func aNewTokenCountsAtOnceAndTheOldOneNoMore() async throws {
        let (old, read) = ("0123456789abcdef-old", "fedcba9876543210-old")
        let (new, newRead) = ("0123456789abcdef-new", "fedcba9876543210-new")
        try await PageFixture.with(daemon: "token = \"\(old)\"\nread_token = \"\(read)\"") { (fixture) async throws in
            let events = try await Self.follow(fixture, "/api/events", read)
            let page = try await Self.follow(fixture, "/live?page=%2F", old)
            try await Self.reload(fixture, "-old", "-new")
            for token in [old, read] {
                #expect(try await fixture.page.get("/api/status", Self.bearer(token)).status == 401)
                #expect(try await fixture.page.post("/api/refresh?source=news", Self.bearer(token)).status == 401)
            }
            for token in [new, newRead] {
                #expect(try await fixture.page.get("/api/status", Self.bearer(token)).status == 200)
            }
            #expect(try await fixture.page.post("/api/refresh?source=news", Self.bearer(new)).status == 200)
            #expect(try await fixture.page.post("/api/refresh?source=news", Self.bearer(newRead)).status == 403)
            // What was opened with an old token ends.
            _ = await events.result
            _ = await page.result
        }
    }

    @Test func onThisMachineATokenMayBeAddedAndRemoved() async throws {
        let token = "0123456789abcdef-secret"
        try await PageFixture.with(daemon: "# token") { (fixture) async throws in
            #expect(try await fixture.page.get("/api/status").status == 200)
            try await Self.reload(fixture, "# token", "token = \"\(token)\" # token")
            #expect(try await fixture.page.get("/api/status").status == 401)
            #expect(try await fixture.page.get("/api/status", Self.bearer(token)).status == 200)
            try await Self.reload(fixture, "token = \"\(token)\" # token", "# token")
            #expect(try await fixture.page.get("/api/status").status == 200)
        }
    }
}
