import FeedModel
import Foundation
import GRDB
import TestStores
import Testing

@testable import FeedStaging
@testable import FeedStores

/// Tables that refer to themselves, by the numbers of records.
@Suite(.onEachStore) struct TreeTests {
    private struct Node {
        var name: String
        /// The number of the record around it; 0 for none.
        var parent: Int64 = 0
    }

    private func commit(_ nodes: [Node], to fixture: StackFixture) throws -> MergeCounts {
        let shape = RowShape.of(
            "category", ["name"], [.init(column: "parent_id", table: "category", lookups: [], missing: .null)],
            numbered: true)
        let rule = MergeRule(sync: .mirror)
        return try fixture.commit(rule) { context in
            // From the last to the first, as elements end.
            try context.stage(
                shape, rule,
                nodes.enumerated().reversed().map { index, node in
                    [.text(node.name), node.parent == 0 ? nil : .integer(node.parent), .integer(Int64(index + 1))]
                })
        }
    }

    private let schema = """
        CREATE TABLE category (
            id INTEGER PRIMARY KEY, name text, parent_id bigint REFERENCES category)
        """

    private static let places = """
        WITH RECURSIVE place (id, path) AS (
            SELECT id, name FROM category WHERE parent_id IS NULL
            UNION ALL SELECT c.id, path || '/' || c.name FROM place JOIN category c ON c.parent_id = place.id)
        SELECT path FROM place
        """

    @Test func aTreeIsMergedLevelByLevel() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            let nodes = [
                Node(name: "a"), Node(name: "x", parent: 1), Node(name: "y", parent: 2), Node(name: "b"),
                Node(name: "x", parent: 4), Node(name: "y", parent: 5), Node(name: "x", parent: 4),
            ]
            let first = try commit(nodes, to: fixture)
            #expect(first == MergeCounts(inserted: 6, replaced: 1))
            #expect(try fixture.rows(Self.places).sorted() == ["a", "a/x", "a/x/y", "b", "b/x", "b/x/y"])
            let again = try commit(nodes, to: fixture)
            #expect(again == MergeCounts(unchanged: 6, replaced: 1))
            // `a` goes with all that is in it, and one of the same name comes below `b`.
            let others = [
                Node(name: "b"), Node(name: "x", parent: 1), Node(name: "y", parent: 2), Node(name: "a", parent: 1),
            ]
            let moved = try commit(others, to: fixture)
            #expect(moved == MergeCounts(inserted: 1, deleted: 3, unchanged: 3))
            #expect(try fixture.rows(Self.places).sorted() == ["b", "b/a", "b/x", "b/x/y"])
            let changelog = try fixture.rows(
                "SELECT operation, count(*) FROM tributary_change GROUP BY operation ORDER BY operation")
            #expect(changelog == ["delete|3", "insert|7"])
        }
    }

    /// A parent that was dropped is none.
    @Test func aRecordWithoutItsParentStandsAtTheTop() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            let nodes = [Node(name: "a"), Node(name: "b", parent: 77), Node(name: "c", parent: 2)]
            #expect(try commit(nodes, to: fixture) == MergeCounts(inserted: 3))
            #expect(try fixture.rows(Self.places).sorted() == ["a", "b", "b/c"])
            #expect(try commit(nodes, to: fixture) == MergeCounts(unchanged: 3))
        }
    }

    /// Two NULLs are the same name.
    @Test func namesThatAreMissing() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            let shape = RowShape.of(
                "category", ["name"], [.init(column: "parent_id", table: "category", lookups: [], missing: .discard)],
                numbered: true)
            let rule = MergeRule(sync: .mirror)
            func sync() throws -> MergeCounts {
                try fixture.commit(rule) { try $0.stage(shape, rule, [[nil, 1, 2], [nil, nil, 1], [nil, 1, 3]]) }
            }
            #expect(try sync() == MergeCounts(inserted: 2, replaced: 1))
            #expect(try sync() == MergeCounts(unchanged: 2, replaced: 1))
        }
    }

    /// Many levels, and many rows beside them.
    @Test func aDeepTree() async throws {
        try await StackFixture.with(schema) { (fixture) async throws in
            var nodes = (0..<25).map { Node(name: "n\($0 % 3)", parent: Int64($0)) }
            nodes += (0..<3000).map { Node(name: "leaf \($0)", parent: Int64($0 % 25) + 1) }
            #expect(try commit(nodes, to: fixture) == MergeCounts(inserted: 3025))
            #expect(try commit(nodes, to: fixture) == MergeCounts(unchanged: 3025))
        }
    }
}
