import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import Synchronization
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// A daemon's engine with a source `s`, whose document is served at `/a`, and receivers at the same server.
struct HookFixture {
    /// What a receiver was told.
    struct Event: Decodable, Equatable {
        struct Change: Decodable, Equatable {
            var table: String
            var key: String
            var operation: String
        }

        var id: String
        var type: String
        var source: String?
        var run: Int?
        var inserted: Int
        var updated: Int
        var deleted: Int
        var error: String?
        var failing_since: String?
        var last_good: String?
        var drift: [Drift]
        var changes: [Change]
        var changes_omitted: Int
    }

    struct Late: Error, CustomStringConvertible { var description: String }

    static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// - Parameter cache: so long that only a request makes the source run.
    static func mapping(_ source: String = "s", path: String = "/a", cache: String = "1d", _ options: String = "")
        -> String
    {
        """
        [sources.\(source)]
        cache = "\(cache)"
        [[sources.\(source).requests]]
        url = "URL\(path)"
        sync = "mirror"
        \(options)
        [[sources.\(source).requests.tables]]
        table = "thing_\(source)"
        element = "item"
        key = ["id"]
        columns = { id = "@id", name = "name" }

        """
    }

    /// Hooks at a server wait for its oldest transaction, which may be another test's.
    private static let patience = Duration.seconds(120)

    let fixture: EngineFixture
    let service: SyncService

    var server: StubServer { fixture.server }

    /// Runs a service while the body runs.
    static func run(
        _ fixture: EngineFixture, _ configuration: String, clock: any RunClock = SystemClock(),
        _ body: (HookFixture) async throws -> Void
    ) async throws {
        try await waitUntilSettled(fixture)
        let service = try fixture.service(configuration, clock: clock)
        let running = Task { try await service.run() }
        let result: Result<Void, any Error>
        do {
            // Its first answer comes when hooks are known.
            await service.heartbeat()
            result = .success(try await body(HookFixture(fixture: fixture, service: service)))
        } catch {
            result = .failure(error)
        }
        running.cancel()
        try await running.value
        try service.store.close()
        try result.get()
    }

    /// Waits until all recorded runs are before every transaction that is open at the server, also of other tests: until then
    /// they are not yet in an order, and a new hook begins before them.
    private static func waitUntilSettled(_ fixture: EngineFixture) async throws {
        guard StoreKind.current == .postgres,
            try fixture.rows("SELECT to_regclass('tributary_run') IS NULL") == ["0"]
        else { return }
        let open = "SELECT count(*) FROM tributary_run WHERE transaction >= pg_snapshot_xmin(pg_current_snapshot())"
        let deadline = ContinuousClock.now + patience
        while try fixture.rows(open) != ["0"] {
            guard .now < deadline else { throw Late(description: "a transaction stays open at the server") }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The events that a receiver has taken, or refused.
    func events(_ path: String = "/hook") throws -> [Event] {
        try server.requests(path).map { try JSONDecoder().decode(Event.self, from: Data($0.body.utf8)) }
    }

    /// Waits until a receiver has been told so often.
    func events(_ path: String = "/hook", count: Int) async throws -> [Event] {
        try await wait("\(count) events at \(path)") { try events(path).count >= count }
        return try events(path)
    }

    /// Waits until a condition holds, which a failing test must not do for ever.
    func wait(_ what: String, _ condition: () async throws -> Bool) async throws {
        let deadline = ContinuousClock.now + Self.patience
        while try await !condition() {
            guard .now < deadline else {
                let hooks = (try? fixture.rows("SELECT * FROM tributary_hook")) ?? []
                let runs = (try? fixture.rows("SELECT id, source, outcome, error FROM tributary_run")) ?? []
                throw Late(description: "\(what): not within \(Self.patience); hooks \(hooks), runs \(runs)")
            }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Refreshes a source, and waits for the record of its run.
    func refresh(_ source: String = "s") async throws {
        let count = try runs(of: source)
        service.refresh([source])
        try await wait("a run of \(source)") { try runs(of: source) > count }
    }

    private func runs(of source: String) throws -> Int {
        try service.store.read { try $0.runs.last(of: source, limit: 1_000) }.reduce(0) { $0 + $1.polls }
    }

    /// Serves a document with these items, and refreshes its source.
    func commit(_ ids: Range<Int>, name: String = "n") async throws {
        server.document("/a", EngineFixture.items(ids.map(String.init), name: name))
        try await refresh()
    }

    func fail() async throws {
        server.route("/a") { _ in StubServer.response(500, "") }
        try await refresh()
    }
}

extension EngineFixture {
    /// A hook that posts to this server.
    static func hook(
        _ on: String, name: String = "chat", path: String = "/hook", _ options: String = ""
    ) -> String {
        """
        [hooks.\(name)]
        on = [\(on)]
        post = "URL\(path)"
        \(options)

        """
    }

    func accept(_ path: String = "/hook") { server.route(path) { _ in StubServer.response(204, "") } }
}
