import FeedModel
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
