import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Events with the rows before and after a change, and hooks that hear of some changes alone.
@Suite struct HookValuesTests {
    /// A change as an event has it: its values as JSON.
    struct Change: Decodable, Equatable {
        enum Value: Decodable, Equatable {
            case null, number(Double), text(String)

            init(from decoder: any Decoder) throws {
                let container = try decoder.singleValueContainer()
                if container.decodeNil() {
                    self = .null
                } else if let number = try? container.decode(Double.self) {
                    self = .number(number)
                } else {
                    self = .text(try container.decode(String.self))
                }
            }
        }

        var operation: String
        var before: [String: Value]?
        var after: [String: Value]?
    }

    private struct Event: Decodable {
        var changes: [Change]
        var changes_omitted: Int
    }

    private static func source(_ options: String = "keep_history = true", more: String = "") -> String {
        """
        [sources.s]
        cache = "1d"
        \(options)
        [[sources.s.requests]]
        url = "URL/a"
        sync = "mirror"
        [[sources.s.requests.tables]]
        table = "product"
        element = "item"
        key = ["id"]
        [sources.s.requests.tables.columns]
        id = "@id"
        name = "@name"
        price = { path = "@price", type = "decimal" }
        \(more)

        """
    }

    private static func items(_ items: (id: Int, name: String, price: String)...) -> String {
        "<items>" + items.map { "<item id='\($0.id)' name='\($0.name)' price='\($0.price)'/>" }.joined() + "</items>"
    }

    private static func row(_ id: Int, _ name: String, _ price: Double) -> [String: Change.Value] {
        ["id": .text("\(id)"), "name": .text(name), "price": .number(price)]
    }

    private func changes(_ hooks: HookFixture, _ index: Int) throws -> [Change] {
        let body = hooks.server.requests("/hook")[index].body
        return try JSONDecoder().decode(Event.self, from: Data(body.utf8)).changes
    }

    private func commit(_ hooks: HookFixture, _ items: (id: Int, name: String, price: String)...) async throws {
        let text = items.map { "<item id='\($0.id)' name='\($0.name)' price='\($0.price)'/>" }.joined()
        hooks.server.document("/a", "<items>\(text)</items>")
        try await hooks.refresh()
    }

    private func run(
        _ source: String, _ hook: String, first: String = HookValuesTests.items((1, "nut", "2"), (2, "bolt", "4.5")),
        _ body: (HookFixture, EngineFixture) async throws -> Void
    ) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            fixture.server.document("/a", first)
            try await fixture.sync(source)
            let hooks = EngineFixture.hook("\"changed\"", hook)
            try await HookFixture.run(fixture, source + hooks) { (hooks) async throws in try await body(hooks, fixture)
            }
        }
    }

    @Test(.onEachStore) func eventsHaveTheRowsBeforeAndAfterEachChange() async throws {
        try await run(Self.source(), "values = true") { (hooks, _) async throws in
            try await commit(hooks, (1, "nut", "2.5"), (3, "pin", "9"))
            _ = try await hooks.events(count: 1)
            let changes = try self.changes(hooks, 0)
            #expect(
                Set(changes.map(\.operation)) == ["insert", "update", "delete"] && changes.count == 3)
            for change in changes {
                switch change.operation {
                case "insert": #expect(change.before == nil && change.after == Self.row(3, "pin", 9))
                case "update":
                    #expect(change.before == Self.row(1, "nut", 2) && change.after == Self.row(1, "nut", 2.5))
                default: #expect(change.before == Self.row(2, "bolt", 4.5) && change.after == nil)
                }
            }
        }
    }

    /// The rows of a commit are those of that commit, however late its event is delivered.
    @Test(.onEachStore) func anEventThatComesLateHasTheRowsOfItsOwnCommit() async throws {
        try await run(Self.source(), "values = true") { (hooks, fixture) async throws in
            fixture.server.route("/hook") { _ in StubServer.response(500, "") }
            try await commit(hooks, (1, "nut", "3"), (2, "bolt", "4.5"))
            _ = try await hooks.events(count: 1)
            try await commit(hooks, (1, "nut", "5"), (2, "bolt", "4.5"))
            try await commit(hooks, (2, "bolt", "4.5"))
            fixture.accept()
            let refused = try hooks.events().count
            let count = try await hooks.events(count: refused + 3).count
            let told = try (count - 3..<count).map { try changes(hooks, $0) }
            #expect(
                told == [
                    [Change(operation: "update", before: Self.row(1, "nut", 2), after: Self.row(1, "nut", 3))],
                    [Change(operation: "update", before: Self.row(1, "nut", 3), after: Self.row(1, "nut", 5))],
                    [Change(operation: "delete", before: Self.row(1, "nut", 5), after: nil)],
                ])
        }
    }

    @Test(.onEachStore) func whatElseHasChangedARowIsNotTakenForTheCommits() async throws {
        try await run(Self.source(), "values = true") { (hooks, fixture) async throws in
            fixture.server.route("/hook") { _ in StubServer.response(500, "") }
            try await commit(hooks, (1, "nut", "3"), (2, "bolt", "4.5"))
            _ = try await hooks.events(count: 1)
            try fixture.store.execute("UPDATE product SET name = 'another' WHERE id = '1'")
            fixture.accept()
            let count = try await hooks.events(count: try hooks.events().count + 1).count
            #expect(
                try changes(hooks, count - 1)
                    == [Change(operation: "update", before: Self.row(1, "nut", 2), after: nil)])
        }
    }

    @Test(.onEachStore) func withoutHistoryARowIsKnownUntilTheNextCommitChangesIt() async throws {
        try await run(Self.source(""), "values = true") { (hooks, fixture) async throws in
            fixture.server.route("/hook") { _ in StubServer.response(500, "") }
            try await commit(hooks, (1, "nut", "3"), (2, "bolt", "5"))
            _ = try await hooks.events(count: 1)
            try await commit(hooks, (1, "nut", "4"), (2, "bolt", "5"))
            fixture.accept()
            let refused = try hooks.events().count
            let count = try await hooks.events(count: refused + 2).count
            #expect(try changes(hooks, count - 2).compactMap { $0.after?["id"] } == [.text("2")])
            #expect(
                try changes(hooks, count - 1)
                    == [Change(operation: "update", before: nil, after: Self.row(1, "nut", 4))])
        }
    }

    @Test(.onEachStore) func aConditionDecidesWhichChangesAreHeardOf() async throws {
        let hook = "values = true\nrows = 1\nwhere = \"abs(new.price - old.price) > 0.2 * old.price\""
        try await run(Self.source(), hook) { (hooks, fixture) async throws in
            // Neither a small change, nor a new row or one that is gone: there a price is NULL.
            try await commit(hooks, (1, "nut", "2.1"), (3, "pin", "1"))
            try await hooks.wait("the position") {
                try fixture.rows("SELECT run, delivered_at FROM tributary_hook") == ["2|NULL"]
            }
            #expect(try hooks.events().isEmpty)
            try await commit(hooks, (1, "nut", "9"), (3, "pin", "2"), (4, "key", "7"))
            let event = try #require(try await hooks.events(count: 1).first)
            #expect(event.run == 3 && event.changes.count == 1 && event.changes_omitted == 1)
            #expect(event.inserted == 1 && event.updated == 2)
        }
    }

    @Test func aConditionMayBeOneForEachTable() async throws {
        let hook = "where = { PRODUCT = \"new.name LIKE 'n%'\", other = \"new.gone\" }"
        try await run(Self.source(), hook) { (hooks, _) async throws in
            try await commit(hooks, (1, "nut", "3"), (2, "bolt", "5"))
            let event = try #require(try await hooks.events(count: 1).first)
            #expect(event.changes.map(\.key) == ["1"] && event.changes_omitted == 0)
        }
    }

    /// Nothing is lost: the event waits for another condition.
    @Test(.onEachStore) func aConditionThatFailsIsAFailureOfItsHook() async throws {
        let hook = "where = \"new.colour = 'red'\""
        try await run(Self.source(), hook) { (hooks, fixture) async throws in
            try await commit(hooks, (1, "nut", "3"), (2, "bolt", "5"))
            try await hooks.wait("the failure") {
                try fixture.rows("SELECT error FROM tributary_hook").first?.contains(
                    "the condition 'where' of the hook 'chat': table 'product' has no column 'colour'") == true
            }
            #expect(try fixture.rows("SELECT run FROM tributary_hook") == ["1"])
            #expect(try hooks.events().isEmpty)
        }
    }

    @Test func anEnvelopeOfDebeziumHasBothRows() async throws {
        try await run(Self.source(), "format = \"debezium\"") { (hooks, _) async throws in
            try await commit(hooks, (1, "nut", "3"), (2, "bolt", "4.5"))
            try await waitForRequests(hooks, 1)
            let body = try #require(hooks.server.requests("/hook").first?.body)
            let event = try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: Any]
            let change = try #require((event?["changes"] as? [[String: Any]])?.first)
            #expect(Set(change.keys) == ["before", "after", "op", "source", "ts_ms"])
            #expect(change["op"] as? String == "u" && change["ts_ms"] is Int)
            #expect((change["before"] as? [String: Any])?["price"] as? Double == 2)
            #expect((change["after"] as? [String: Any])?["price"] as? Double == 3)
            let source = try #require(change["source"] as? [String: Any])
            #expect(source["connector"] as? String == "tributary" && source["name"] as? String == "s")
            #expect(source["table"] as? String == "product" && source["run"] as? Int == 2)
        }
    }

    private func waitForRequests(_ hooks: HookFixture, _ count: Int) async throws {
        try await hooks.wait("\(count) requests") { hooks.server.requests("/hook").count >= count }
    }

    /// An event has about a megabyte of values, and at least one row.
    @Test func longValuesAreLeftToTheNumberOfOmittedChanges() async throws {
        let long = String(repeating: "x", count: 300_000)
        try await run(Self.source(), "values = true") { (hooks, _) async throws in
            try await commit(
                hooks, (1, long, "2"), (2, long, "4.5"), (3, long, "1"), (4, long, "1"), (5, long, "1"))
            let event = try #require(try await hooks.events(count: 1).first)
            #expect(event.changes.count == 3 && event.changes_omitted == 2)
        }
    }

    /// The changelog names rows by the key that is declared, the history by the table's own.
    @Test func rowsAreFoundByADeclaredKeyOfSeveralColumns() async throws {
        let schema = """
            CREATE TABLE IF NOT EXISTS product (id INTEGER PRIMARY KEY, maker TEXT NOT NULL, name TEXT NOT NULL, price REAL,
                UNIQUE (maker, name));
            """
        let source = """
            [sources.s]
            cache = "1d"
            keep_history = true
            [[sources.s.requests]]
            url = "URL/a"
            sync = "mirror"
            [[sources.s.requests.tables]]
            table = "product"
            element = "item"
            key = ["maker", "name"]
            columns = { maker = "@maker", name = "@name", price = "@price" }

            """
        func item(_ name: String, _ price: Int) -> String { "<item maker='it\"s' name='\(name)' price='\(price)'/>" }
        try await EngineFixture.with { (fixture) async throws in
            fixture.accept()
            try fixture.store.execute(schema)
            fixture.server.document("/a", "<a>\(item("nut", 2))\(item("bolt", 3))</a>")
            try await fixture.sync(source)
            let hooks = EngineFixture.hook("\"changed\"", "values = true")
            try await HookFixture.run(fixture, source + hooks) { (hooks) async throws in
                fixture.server.document("/a", "<a>\(item("nut", 4))\(item("pin", 5))</a>")
                try await hooks.refresh()
                _ = try await hooks.events(count: 1)
                let changes = try self.changes(hooks, 0)
                let byOperation = Dictionary(grouping: changes, by: \.operation).mapValues { $0[0] }
                #expect(byOperation["update"]?.before?["price"] == .number(2))
                #expect(byOperation["update"]?.after?["price"] == .number(4))
                #expect(byOperation["insert"]?.after?["price"] == .number(5))
                #expect(byOperation["delete"]?.before?["price"] == .number(3))
            }
        }
    }
}
