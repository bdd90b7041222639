import Foundation
import Synchronization
import TestStores
import TestSupport

/// A daemon with a page, two sources with a history, and the server of their feeds.
struct PageFixture {
    struct Late: Error, CustomStringConvertible { var description: String }

    let server: StubServer
    let folder: TemporaryFolder
    let store: TestStore
    let daemon: RunningProgram
    let page: PageClient
    let feeds: Feeds
    let log: Log

    /// What the daemon has said.
    final class Log: Sendable {
        private let lines = Mutex<[String]>([])

        func add(_ line: String) { lines.withLock { $0.append(line) } }

        var text: String { lines.withLock { $0.joined(separator: "\n") } }
    }

    var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

    /// What the server answers for each source.
    final class Feeds: Sendable {
        private let answers = Mutex<[String: (status: Int, body: String)]>([:])

        subscript(source: String) -> (status: Int, body: String) { answers.withLock { $0[source] } ?? (404, "") }

        func set(_ source: String, _ body: String, status: Int = 200) {
            answers.withLock { $0[source] = (status, body) }
        }
    }

    static func items(_ ids: some Sequence<Int>, title: String = "t") -> String {
        "<items>" + ids.map { "<item id='\($0)'><title>\(title)</title></item>" }.joined() + "</items>"
    }

    /// - Parameters:
    ///   - daemon: what `[daemon]` declares besides an address.
    ///   - defaults: what `[defaults]` declares besides the history and a limit.
    ///   - more: what follows the two sources, with `URL` for the server's address.
    static func with(
        daemon: String = "", defaults: String = "", more: String = "", _ body: (PageFixture) async throws -> Void
    ) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                try await withTestStore(in: folder) { (store) async throws in
                    let feeds = Feeds()
                    for source in ["news", "rates"] {
                        feeds.set(source, items(1...4))
                        server.route("/\(source)") { _ in
                            let answer = feeds[source]
                            return StubServer.response(
                                answer.status, answer.body, ["Last-Modified": "Sat, 21 Nov 2026 08:00:00 GMT"])
                        }
                    }
                    let sources = ["news", "rates"].map { declaration($0, url: "\(server.url)/\($0)") }.joined()
                    try folder.write(
                        store.declaration + "[daemon]\nlisten = \"127.0.0.1:0\"\n\(daemon)\n"
                            + "[defaults]\ncache = \"1d\"\nkeep_history = true\nmax_deleted = \"50%\"\n\(defaults)\n"
                            + sources
                            + more.replacing("URL", with: server.url), to: "sources.toml")
                    let process = try BuiltProgram("tributary", config: folder.file("sources.toml")).start(["run"])
                    defer { process.signal(SIGKILL) }
                    let log = Log()
                    let fixture = PageFixture(
                        server: server, folder: folder, store: store, daemon: process,
                        page: try await page(of: process, log),
                        feeds: feeds, log: log)
                    try await fixture.wait("both have run") {
                        try store.rows("SELECT source FROM tributary_source WHERE last_commit IS NOT NULL").count >= 2
                    }
                    try await body(fixture)
                    process.signal(SIGTERM)
                    let status = await process.end()
                    guard status == 0 else { throw Late(description: "the daemon ended with \(status)") }
                }
            }
        }
    }

    static func declaration(_ name: String, url: String) -> String {
        """
        [sources."\(name)"]
        [[sources."\(name)".requests]]
        url = "\(url)"
        tables = [{ table = "\(name)", element = "item", key = ["id"], sync = "mirror", \
        columns = { id = "@id", title = "title" } }]

        """
    }

    /// Waits for the daemon to say where its page is. What it says later is read and forgotten.
    private static func page(of process: RunningProgram, _ log: Log) async throws -> PageClient {
        let lines = process.errorLines
        for await line in lines {
            log.add(line)
            guard let match = line.firstMatch(of: /The page is at http:\/\/127.0.0.1:(\d+)/), let port = Int(match.1)
            else {
                continue
            }
            Task { for await line in lines { log.add(line) } }
            return PageClient(port: port)
        }
        throw Late(description: "the daemon said: " + log.text)
    }

    /// Waits until a condition holds, which a failing test must not do for ever.
    func wait(_ what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(180)
        while (try? await condition()) != true {
            guard .now < deadline else { throw Late(description: "\(what): not within 180 s; \(log.text)") }
            try await Task.sleep(for: .milliseconds(10))
        }
    }
}
