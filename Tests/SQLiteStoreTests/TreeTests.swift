import FeedModel
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Tables that refer to themselves, by the numbers of records: from memory and from a scratch database alike.
@Suite struct TreeTests {
    private struct Node {
        var name: String
        /// The number of the record around it; 0 for none.
        var parent: Int64 = 0
    }

    private static let shape: RowShape = {
        var shape = RowShape(
            table: "category", columns: ["name"],
            references: [.init(column: "parent_id", table: "category", lookups: [], missing: .null)])
        shape.numbersRecords = true
        return shape
    }()

    /// Stages nodes, numbered from 1 in their order, from the last to the first, as elements end.
    private func commit(_ nodes: [Node], to fixture: StoreFixture) throws -> MergeCounts {
        let rule = MergeRule(sync: .mirror)
        return try fixture.commit(rule) { context in
            let writer = try context.writer(for: Self.shape, rule: rule)
            for (index, node) in nodes.enumerated().reversed() {
                writer.beginRow()
                Array(node.name.utf8).withUnsafeBytes { writer.append(text: $0) }
                if node.parent == 0 { writer.appendNull() } else { writer.append(node.parent) }
                writer.append(Int64(index + 1))
                try writer.endRow()
            }
        }
    }

    private let schema = """
        CREATE TABLE category (id INTEGER PRIMARY KEY, name TEXT, parent_id INTEGER REFERENCES category(id))
        """

    private static let places = """
        WITH RECURSIVE place (id, path) AS (
            SELECT id, name FROM category WHERE parent_id IS NULL
            UNION ALL SELECT c.id, path || '/' || c.name FROM place CROSS JOIN category c ON c.parent_id = place.id)
        SELECT path FROM place ORDER BY path
        """

    @Test func aTreeIsMergedLevelByLevel() async throws {
        try await StoreFixture.with(schema) { (fixture) async throws in
            let nodes = [
                Node(name: "a"), Node(name: "x", parent: 1), Node(name: "y", parent: 2), Node(name: "b"),
                Node(name: "x", parent: 4), Node(name: "y", parent: 5), Node(name: "x", parent: 4),
            ]
            #expect(try commit(nodes, to: fixture) == counts(inserted: 6, replaced: 1))
            #expect(try fixture.rows(Self.places) == ["a", "a/x", "a/x/y", "b", "b/x", "b/x/y"])
            #expect(try commit(nodes, to: fixture) == counts(unchanged: 6, replaced: 1))
            // `a` goes with all that is in it, and one of the same name comes below `b`.
            let others = [
                Node(name: "b"), Node(name: "x", parent: 1), Node(name: "y", parent: 2), Node(name: "a", parent: 1),
            ]
            #expect(try commit(others, to: fixture) == counts(inserted: 1, deleted: 3, unchanged: 3))
            #expect(try fixture.rows(Self.places) == ["b", "b/a", "b/x", "b/x/y"])
        }
    }

    /// A parent that was dropped is none.
    @Test func aRecordWithoutItsParentStandsAtTheTop() async throws {
        try await StoreFixture.with(schema) { (fixture) async throws in
            let nodes = [Node(name: "a"), Node(name: "b", parent: 77), Node(name: "c", parent: 2)]
            #expect(try commit(nodes, to: fixture) == counts(inserted: 3))
            #expect(try fixture.rows(Self.places) == ["a", "b", "b/c"])
            #expect(try commit(nodes, to: fixture) == counts(unchanged: 3))
        }
    }
}
