import FeedModel
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// `within`: a mirror that deletes only among the rows of parents that the feed has, and with those that leave it.
@Suite(.onEachStore) struct DeletedParentTests {
    private func sync(_ fixture: EngineFixture, _ document: String, givenKeys: Bool) async throws -> RunReport {
        fixture.server.document("/feed", "<f>\(document)</f>")
        let own = givenKeys ? "id" : "code"
        let mapping = """
            [sources.s]
            [[sources.s.requests]]
            url = "URL/feed"
            sync = "mirror"
            [[sources.s.requests.tables]]
            table = "o"
            element = "o"
            key = ["\(own)"]
            columns = { \(own) = "@id" }
            [[sources.s.requests.tables]]
            table = "l"
            element = "l"
            key = ["id"]
            within = "o"
            columns = { id = "@id", o = { parent = "o" } }
            [[sources.s.requests.tables]]
            table = "n"
            element = "n"
            key = ["id"]
            within = "l"
            columns = { id = "@id", l = { parent = "l" } }
            """
        return try #require(try await fixture.sync(mapping, mode: .full).first)
    }

    /// A list sends all orders, and only the details of changed ones are fetched.
    @Test(arguments: ["v = \"v\"", ""]) func parentsThatCameWithoutTheirChildrenKeepThem(more: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = """
                [[sources.s.requests]]
                key = "list"
                url = "URL/list"
                sync = "mirror"
                tables = [{ table = "o", element = "item", key = ["id"], columns = { id = "@id", \(more) } }]
                [[sources.s.requests]]
                key = "detail"
                url = "URL/o/${row:id}"
                for_each = "SELECT id FROM staged.o WHERE id LIKE 'b%'"
                [[sources.s.requests.tables]]
                table = "o"
                element = "/o"
                key = ["id"]
                columns = { id = "@id" }
                [[sources.s.requests.tables]]
                table = "l"
                element = "l"
                key = ["o", "n"]
                within = "o"
                columns = { o = { parent = "o" }, n = "@n" }

                """
            func detail(_ id: String, _ lines: String...) {
                let lines = lines.map { "<l n='\($0)'/>" }.joined()
                fixture.server.document("/o/\(id)", "<o id='\(id)'>\(lines)</o>")
            }
            func sync(_ ids: [String]) async throws -> [String] {
                fixture.server.document("/list", EngineFixture.items(ids))
                let report = try #require(try await fixture.sync(source, mode: .full).first)
                #expect(report.outcome == .committed, "\(report)")
                return try fixture.rows("SELECT o || n FROM l ORDER BY o, n")
            }
            detail("b1", "1", "2")
            detail("b2", "1")
            #expect(try await sync(["b1", "b2"]) == ["b11", "b12", "b21"])
            // Order b1 is in the list alone: its children stay, and so does it.
            try fixture.store.execute("INSERT INTO o (id) VALUES ('a')")
            try fixture.store.execute("INSERT INTO l (o, n) VALUES ('a', '9')")
            detail("b2")
            #expect(try await sync(["a", "b1", "b2"]) == ["a9", "b11", "b12"])
            detail("b1", "2")
            #expect(try await sync(["a", "b1"]) == ["a9", "b12"])
        }
    }

    /// Each of two requests sends other rows within the same parents.
    @Test func childrenOfTwoRequestsAreMirroredApart() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func request(_ child: String) -> String {
                """
                [[sources.s.requests]]
                key = "\(child)"
                url = "URL/\(child)"
                [[sources.s.requests.tables]]
                table = "o"
                element = "o"
                key = ["id"]
                columns = { id = "@id" }
                [[sources.s.requests.tables]]
                table = "\(child)"
                element = "o/\(child)"
                key = ["o", "n"]
                within = "o"
                columns = { o = { parent = "o" }, n = "@n" }

                """
            }
            let source = request("l") + request("k")
            func serve(_ child: String, _ numbers: String...) {
                let rows = numbers.map { "<\(child) n='\($0)'/>" }.joined()
                fixture.server.document("/\(child)", "<r><o id='1'>\(rows)</o></r>")
            }
            serve("l", "1", "2")
            serve("k", "3", "4")
            _ = try await fixture.sync(source)
            serve("l", "1")
            serve("k", "4")
            let report = try #require(try await fixture.sync(source).first)
            #expect(report.counts.deleted == 2, "\(report)")
            #expect(try fixture.rows("SELECT n FROM l UNION ALL SELECT n FROM k ORDER BY 1") == ["1", "4"])
        }
    }

    /// The parent's own key has a value that is looked up, so that no key of its children is known before it.
    @Test func childrenOfAParentThatIsIdentifiedByAReferenceGoWithIt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = """
                [[sources.s.requests]]
                url = "URL/feed"
                sync = "mirror"
                [[sources.s.requests.tables]]
                table = "c"
                element = "c"
                key = ["id"]
                columns = { id = "@id" }
                [[sources.s.requests.tables]]
                table = "p"
                element = "p"
                key = ["a", "b"]
                columns = { a = { path = "@a", references = "c(id)" }, b = "@b" }
                [[sources.s.requests.tables]]
                table = "k"
                element = "p/k"
                key = ["p", "n"]
                within = "p"
                columns = { p = { parent = "p" }, n = "@n" }
                """
            let one = "<p a='1' b='x'><k n='1'/><k n='3'/></p>"
            fixture.server.document("/feed", "<f><c id='1'/><c id='2'/>\(one)<p a='2' b='y'><k n='2'/></p></f>")
            #expect(try await fixture.sync(mapping, mode: .full).first?.counts.inserted == 7)
            fixture.server.document(
                "/feed", "<f><c id='1'/><c id='2'/><p a='1' b='x'><k n='1'/></p><p a='2' b='z'><k n='2'/></p></f>")
            let report = try #require(try await fixture.sync(mapping, mode: .full).first)
            #expect(report.error == nil && report.counts.deleted == 3 && report.counts.inserted == 2, "\(report)")
            let rows = try fixture.rows("SELECT p.a || p.b || k.n FROM k JOIN p ON p.id = k.p ORDER BY 1")
            #expect(rows == ["1x1", "2z2"])
        }
    }

    @Test(arguments: [true, false])
    func childrenOfAParentThatLeavesGoWithIt(givenKeys: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let stays = "<o id='1'><l id='a'><n id='x'/></l></o>"
            let leaves = "<o id='2'><l id='b'><n id='y'/></l><l id='c'/><l id='d'/></o>"
            #expect(try await sync(fixture, stays + leaves, givenKeys: givenKeys).error == nil)
            // One line moves to the parent that stays.
            let moved = "<o id='1'><l id='a'><n id='x'/></l><l id='d'/></o>"
            let report = try await sync(fixture, moved, givenKeys: givenKeys)
            #expect(report.counts == MergeCounts(updated: 1, deleted: 4, unchanged: 3), "\(report)")
            #expect(try fixture.rows("SELECT id FROM l ORDER BY id") == ["a", "d"])
            #expect(try fixture.rows("SELECT id FROM n") == ["x"])
            let log =
                "SELECT \"table\", key FROM tributary_change WHERE operation = 'delete' AND \"table\" <> 'o' ORDER BY 1, 2"
            #expect(try fixture.rows(log) == ["l|b", "l|c", "n|y"])
            #expect(try await sync(fixture, moved, givenKeys: givenKeys).counts == MergeCounts(unchanged: 4))
        }
    }
}
