import Foundation
import Synchronization
import TestStores
import TestSupport

/// The built program with sources `s0`, `s1` …, each document of which differs from the one before, and a receiver.
struct TellingFixture {
    struct Event: Decodable {
        var id: String
        var type: String
        var source: String?
        var run: Int?
        var inserted: Int
    }

    struct Late: Error, CustomStringConvertible { var description: String }

    let server: StubServer
    let folder: TemporaryFolder
    let store: TestStore

    var program: BuiltProgram { BuiltProgram("tributary", config: folder.file("sources.toml")) }

    /// - Parameter hooks: what is declared besides, with `URL` for the server.
    static func with(
        sources: Int = 1, cache: String = "1d", hooks: String = "", _ body: (TellingFixture) async throws -> Void
    ) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                try await withTestStore(in: folder) { (store) async throws in
                    let fixture = TellingFixture(server: server, folder: folder, store: store)
                    for index in 0..<sources { fixture.serve(index) }
                    server.route("/hook") { _ in StubServer.response(204, "") }
                    try fixture.declare(sources: sources, cache: cache, hooks: hooks)
                    try await body(fixture)
                }
            }
        }
    }

    func declare(sources: Int = 1, cache: String = "1d", hooks: String) throws {
        let declarations = (0..<sources).map { index in
            """
            [sources.s\(index)]
            cache = "\(cache)"
            [[sources.s\(index).requests]]
            url = "\(server.url)/s\(index)"
            tables = [{ table = "thing\(index)", element = "item", key = ["id"], columns = { id = "@id" } }]

            """
        }
        let text = store.declaration + declarations.joined() + hooks.replacing("URL", with: server.url)
        try folder.write(text, to: "sources.toml")
    }

    /// Serves one item more each time.
    private func serve(_ index: Int) {
        let count = Counter()
        server.route("/s\(index)") { _ in
            let items = (1...count.next()).suffix(20).map { "<item id='\($0)'/>" }.joined()
            return StubServer.response(200, "<items>\(items)</items>")
        }
    }

    func events() throws -> [Event] {
        try server.requests("/hook").map { try JSONDecoder().decode(Event.self, from: Data($0.body.utf8)) }
    }

    /// Waits until a condition holds, which a failing test must not do for ever.
    func wait(_ what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(180)
        while try await !condition() {
            guard .now < deadline else {
                throw Late(description: "\(what): not within 180 s; \(try store.rows("SELECT * FROM tributary_hook"))")
            }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private final class Counter: Sendable {
        private let count = Mutex(0)

        func next() -> Int {
            count.withLock { count in
                count += 1
                return count
            }
        }
    }
}
