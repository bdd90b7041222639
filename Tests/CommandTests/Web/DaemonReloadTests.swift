import FeedConfiguration
import Foundation
import TestStores
import TestSupport
import Testing

/// Each key of `[daemon]` after a reload, as the reference describes it. ``TokenReloadTests`` has the tokens.
struct DaemonReloadTests {
    private static func reload(_ fixture: PageFixture, _ old: String, _ new: String) async throws {
        func count() -> Int { fixture.log.text.matches(of: /Configuration reloaded/).count }
        let before = count()
        let text = try String(contentsOfFile: fixture.folder.file("sources.toml"), encoding: .utf8)
        try fixture.folder.write(text.replacing(old, with: new), to: "sources.toml")
        fixture.daemon.signal(SIGHUP)
        try await fixture.wait("the configuration is read again") { count() > before }
    }

    @Test func eachKeyIsCovered() throws {
        let keys = try #require(KeyTable.all.first { $0.path == "daemon" }).entries.map(\.name)
        let waiting = ["listen", "health", "metrics_per_source", "rows"]
        #expect(Set(keys) == Set(waiting + ["token", "read_token", "per_host", "concurrency"]))
        let reference = try MarkdownFile("Documentation/Reference/daemon.md").lines.joined(separator: "\n")
        for section in reference.components(separatedBy: "\n## ").dropFirst() {
            let name = section.dropFirst().prefix { $0 != "`" }
            #expect(section.contains("takes effect at the next start") == waiting.contains(String(name)), "\(name)")
        }
    }

    @Test(.timeLimit(.minutes(3))) func addressesRowsAndSeriesWaitForTheNextStart() async throws {
        try await PageFixture.with(daemon: "rows = true") { (fixture) async throws in
            try await Self.reload(
                fixture, "listen = \"127.0.0.1:0\"\nrows = true",
                "listen = \"[::1]:1\"\nhealth = \"127.0.0.1:1\"\nrows = false\nmetrics_per_source = false")
            #expect(try await fixture.page.get("/healthz").status == 200)
            #expect(try await fixture.page.get("/tables/news").status == 200)
            #expect(try await fixture.page.get("/metrics").body.contains("source=\"news\""))
        }
    }

    @Test(.timeLimit(.minutes(3))) func aSourceWithARenewedTokenIsRefreshedAtOnce() async throws {
        try await PageFixture.with { (fixture) async throws in
            fixture.server.route("/news") { request in
                request.headers["authorization"] == "Bearer new-token"
                    ? StubServer.response(200, PageFixture.items(1...5)) : StubServer.response(401, "")
            }
            try fixture.folder.write("old-token\n", to: "token")
            try await Self.reload(
                fixture, "[[sources.\"news\".requests]]\n",
                "[[sources.\"news\".requests]]\nauth = { bearer = \"${file:token}\" }\n")
            try await fixture.wait("the old token is refused") {
                try fixture.store.rows("SELECT failures FROM tributary_source WHERE source = 'news'") == ["1"]
            }
            try fixture.folder.write("new-token\n", to: "token")
            // The file is read at a reload only.
            try await Self.reload(fixture, "[daemon]", "[daemon]")
            try await fixture.wait("the new token is sent") {
                try fixture.store.rows("SELECT count(*) FROM news") == ["5"]
            }
        }
    }

    /// The daemon goes on with the old configuration, and so do the commands that need only the store.
    @Test(
        .timeLimit(.minutes(3)), .onEachStore,
        arguments: ["[sources.x]\nchace = 1\n", "[sources.x\n", "[[sources.x.requests]]\nurl = \"${NOWHERE}\"\n"])
    func commandsOfTheStoreWorkWhileTheFileHasAMistake(mistake: String) async throws {
        try await PageFixture.with { (fixture) async throws in
            let file = fixture.folder.file("sources.toml")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            try fixture.folder.write(text + mistake, to: "sources.toml")
            #expect(try await fixture.program.run("check").status == 78)
            for command in [["status"], ["status", "news", "--json"], ["history", "news"], ["refresh", "news"]] {
                let output = try await fixture.program.start(command).output()
                #expect(output.status == 0 && output.standardOutput.contains("news"), "\(command): \(output)")
                guard command != ["status", "news", "--json"] else { continue }
                #expect(output.standardError.hasPrefix("tributary: warning: "), "\(command): \(output)")
                #expect(output.standardError.contains("`tributary check` shows"), "\(command): \(output)")
            }
            let status = try await fixture.program.run("status").standardOutput
            #expect(status.contains(#/news +ok /#) && !status.contains("no longer declared"), "\(status)")
            if StoreKind.current == .sqlite {
                let copy = try await fixture.program.run("backup", fixture.folder.file("copy.sqlite"))
                #expect(copy.status == 0 && copy.standardError.contains(": warning: "), "\(copy)")
            }
            // What needs the sources, and whose store cannot be found, prints the mistakes.
            #expect(try await fixture.program.run("sync").status == 78)
            try fixture.folder.write("[store]\npaht = \"x\"\n" + mistake, to: "sources.toml")
            #expect(try await fixture.program.run("status").status == 78)
            try fixture.folder.write(text, to: "sources.toml")
        }
    }

    /// A reload sees new, changed and removed files, and takes all of them or none.
    @Test(.timeLimit(.minutes(3))) func includedFilesAreReadAgain() async throws {
        try await PageFixture.with { (fixture) async throws in
            let folder = fixture.folder
            try FileManager.default.createDirectory(atPath: folder.file("conf.d"), withIntermediateDirectories: true)
            func source(_ name: String) -> String {
                fixture.feeds.set(name, PageFixture.items(1...3))
                fixture.server.route("/\(name)") { _ in StubServer.response(200, PageFixture.items(1...3)) }
                return PageFixture.declaration(name, url: "\(fixture.server.url)/\(name)")
            }
            func page(_ name: String) async throws -> String { try await fixture.page.get("/sources/\(name)").body }
            func waitForCommit(of name: String) async throws {
                try await fixture.wait("\(name) has run") {
                    try fixture.store.rows(
                        "SELECT source FROM tributary_source WHERE source = '\(name)' AND last_commit IS NOT NULL"
                    ).count == 1
                }
            }
            let text = try String(contentsOfFile: folder.file("sources.toml"), encoding: .utf8)
            try folder.write(source("one"), to: "conf.d/1.toml")
            try await Self.reload(fixture, text, "include = [\"conf.d/*.toml\"]\n" + text)
            try await waitForCommit(of: "one")
            #expect(try await page("one").contains("1.toml"))

            try FileManager.default.removeItem(atPath: folder.file("conf.d/1.toml"))
            try folder.write(source("two").replacing("url", with: "uri"), to: "conf.d/2.toml")
            fixture.daemon.signal(SIGHUP)
            try await fixture.wait("the mistake is reported") {
                fixture.log.text.contains("conf.d/2.toml:3: sources.two.requests[1].uri: unknown key")
            }
            #expect(try await page("one").contains("1.toml"))
            #expect(try await fixture.page.get("/sources/two").status == 404)

            try folder.write(source("two"), to: "conf.d/2.toml")
            try await Self.reload(fixture, "[daemon]", "[daemon]")
            try await waitForCommit(of: "two")
            #expect(try await page("two").contains("2.toml"))
            #expect(try await !page("one").contains("1.toml"))
        }
    }

    @Test(.timeLimit(.minutes(3))) func moreRequestsToAHostCountAtOnce() async throws {
        try await PageFixture.with(daemon: "per_host = 1") { (fixture) async throws in
            let gate = Gate()
            defer { gate.open() }
            for name in ["news", "rates"] {
                fixture.server.route("/\(name)") { _ in
                    gate.wait()
                    return StubServer.response(200, PageFixture.items(1...4))
                }
            }
            func requests() -> Int { ["/news", "/rates"].reduce(0) { $0 + fixture.server.requests($1).count } }
            let before = requests()
            #expect(try await fixture.program.run("refresh").status == 0)
            try await fixture.wait("one is asked") { requests() == before + 1 }
            try await Self.reload(fixture, "per_host = 1", "per_host = 2")
            try await fixture.wait("the other is asked, too") { requests() == before + 2 }
        }
    }
}
