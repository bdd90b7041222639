import FeedModel
import FeedStores
import Foundation
@testable import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct DaemonTableTests {
    private func record(_ store: PostgresStore, _ name: String, _ groups: [String: String]) -> DaemonRecord {
        DaemonRecord(
            id: store.daemonID, name: name, startedAt: Date(timeIntervalSince1970: 1_900_000_000),
            declared: DeclaredSources(groups))
    }

    @Test func messagesReachAllOthers() async throws {
        try await withPostgresDatabase { (database) async throws in
            let (one, two) = (try database.openStore(), try database.openStore())
            let received = Mutex<[StoreMessage]>([])
            let listening = two.listen { messages in received.withLock { $0 += messages } }
            defer { listening.stop() }
            func wait(for message: StoreMessage) async throws {
                try await onThread { while !received.withLock({ $0.contains(message) }) { usleep(1000) } }
            }
            try await wait(for: .daemonsChanged)
            received.withLock { $0 = [] }
            let names = (0..<2000).map { "source-\($0)" }
            try one.requestRefresh(names)
            try one.requestRefresh([])
            try await wait(for: .refresh([]))
            try one.notifyRetry(ofHook: "the \"pager\"")
            try await wait(for: .retry("the \"pager\""))
            let asked = received.withLock { messages in
                messages.flatMap { message -> [String] in
                    guard case .refresh(let names) = message else { return [] }
                    return names
                }
            }
            #expect(asked == names)
            _ = try two.beat(record(two, "two", [:]))
            _ = try one.beat(record(one, "one", [:]))
            try await wait(for: .daemonsChanged)
            for daemon in [two.daemonID, one.daemonID] {
                let message = #"{"run": 1, "source": "a", "outcome": "committed", "daemon": "\#(daemon)"}"#
                try database.connect().execute("SELECT pg_notify('tributary', $1)", [.text(message)])
            }
            try await wait(for: .ran("a"))
            #expect(received.withLock { messages in messages.filter { $0 == .ran("a") }.count } == 1)
            // A lost connection is made again, and all may have changed meanwhile.
            received.withLock { $0 = [] }
            try database.terminateOthers()
            try await wait(for: .daemonsChanged)
            try one.close()
            try two.close()
        }
    }

    /// Stores in other schemas of the database are asked by their own.
    @Test func messagesStayInTheirSchema() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().execute("CREATE SCHEMA other")
            let one = try database.openStore()
            let other = try PostgresStore(
                url: database.connectionString + " options='-c search_path=other'", workFolder: "/tmp")
            let received = Mutex<[StoreMessage]>([])
            let listening = other.listen { messages in received.withLock { $0 += messages } }
            defer { listening.stop() }
            func wait(for message: StoreMessage) async throws {
                try await onThread { while !received.withLock({ $0.contains(message) }) { usleep(1000) } }
            }
            try await wait(for: .daemonsChanged)
            try one.requestRefresh(["theirs"])
            try other.requestRefresh(["ours"])
            try await wait(for: .refresh(["ours"]))
            #expect(received.withLock { !$0.contains(.refresh(["theirs"])) })
            try one.close()
            try other.close()
        }
    }

    /// Upper case and spaces need quotes in SQL.
    @Test func theSchemaMayHaveAnyName() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().executeScript(
                #"CREATE SCHEMA "Feeds B"; ALTER DATABASE \#(database.name) SET search_path = 'Feeds B'"#)
            let store = try database.openStore()
            let received = Mutex<[StoreMessage]>([])
            let listening = store.listen { messages in received.withLock { $0 += messages } }
            defer { listening.stop() }
            func wait(for message: StoreMessage) async throws {
                try await onThread { while !received.withLock({ $0.contains(message) }) { usleep(1000) } }
            }
            try await wait(for: .daemonsChanged)
            try store.requestRefresh(["s"])
            try await wait(for: .refresh(["s"]))
            _ = try store.beat(record(store, "one", [:]))
            #expect(received.withLock { messages in !messages.contains { if case .lost = $0 { true } else { false } } })
            try store.close()
        }
    }

    /// PostgreSQL has no right by which a role could be kept from NOTIFY.
    @Test func aRoleWithoutRightsRefreshesNothing() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            try store.requestRefresh(["earlier"])
            let received = Mutex<[StoreMessage]>([])
            let listening = store.listen { messages in received.withLock { $0 += messages } }
            defer { listening.stop() }
            func wait(for message: StoreMessage) async throws {
                try await onThread { while !received.withLock({ $0.contains(message) }) { usleep(1000) } }
            }
            try await wait(for: .daemonsChanged)
            let stranger = try database.connect()
            let role = "stranger_\(database.name)"
            try stranger.execute("CREATE ROLE \(role)")
            try stranger.execute("SET ROLE \(role)")
            let schema = "(SELECT oid FROM pg_namespace WHERE nspname = 'public')"
            for payload in ["[]", "[\"s\"]", ""] {
                try stranger.execute(
                    "SELECT pg_notify('tributary_refresh_' || \(schema), $1)", [.text(payload)])
            }
            #expect(throws: PostgresError.self) {
                try stranger.execute("INSERT INTO tributary_refresh (sources) VALUES ('{}')")
            }
            try stranger.executeScript("RESET ROLE; DROP ROLE \(role)")
            try store.requestRefresh(["ours"])
            try await wait(for: .refresh(["ours"]))
            let asked = received.withLock { $0.filter { if case .refresh = $0 { true } else { false } } }
            #expect(asked == [.refresh(["ours"])])
            try store.close()
        }
    }

    @Test func scratchOfProcessesThatLiveIsKept() throws {
        let parent = NSTemporaryDirectory() + "tributary-work-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: parent) }
        let live = WorkFolder("live", in: parent)
        let gone = WorkFolder("gone", in: parent)
        try live.make()
        try gone.make()
        gone.remove()
        try FileManager.default.createDirectory(atPath: parent + "/dead", withIntermediateDirectories: true)
        for name in ["lock", "a.scratch"] { try Data().write(to: URL(fileURLWithPath: "\(parent)/dead/\(name)")) }
        try WorkFolder.removeAbandoned(in: parent)
        #expect(try FileManager.default.contentsOfDirectory(atPath: parent).sorted() == [".lock", "live"])
        live.remove()
    }
}
