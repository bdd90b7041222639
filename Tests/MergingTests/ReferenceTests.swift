import FeedModel
import Foundation
import GRDB
import TestStores
import Testing

@testable import FeedStaging
@testable import FeedStores

/// Columns that hold the primary key of the record around a record.
@Suite(.onEachStore) struct ReferenceTests {
    private static func parent(_ column: String, _ table: String) -> RowShape.Reference {
        .init(column: column, table: table, lookups: [], missing: .discard)
    }

    @Test func keysThatTheStoreGenerates() async throws {
        let schema = """
            CREATE TABLE shelf (id INTEGER PRIMARY KEY, name text);
            CREATE TABLE book (id INTEGER PRIMARY KEY, shelf bigint REFERENCES shelf, title text);
            CREATE TABLE mark (id INTEGER PRIMARY KEY, book bigint REFERENCES book, page text);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            let rule = MergeRule(sync: .mirror)
            func commit(_ page: StagedValue) throws -> MergeCounts {
                try fixture.commit(rule) { context in
                    // As elements end.
                    try context.stage(
                        .of("mark", ["page"], [Self.parent("book", "book")]), rule,
                        [["1", 11], [page, 11], ["1", 12]])
                    try context.stage(
                        .of("book", ["title"], [Self.parent("shelf", "shelf")], numbered: true), rule,
                        [["A", 1, 11], ["A", 2, 12]])
                    try context.stage(.of("shelf", ["name"], numbered: true), rule, [["x", 1], ["y", 2]])
                }
            }
            let joined = """
                SELECT shelf.name, book.title, mark.page FROM mark JOIN book ON book.id = mark.book
                JOIN shelf ON shelf.id = book.shelf ORDER BY 1, 3
                """
            #expect(try commit("2") == MergeCounts(inserted: 7))
            #expect(try fixture.rows(joined) == ["x|A|1", "x|A|2", "y|A|1"])
            #expect(try commit("2") == MergeCounts(unchanged: 7))
            #expect(try commit("3") == MergeCounts(inserted: 1, deleted: 1, unchanged: 6))
            #expect(try fixture.rows(joined) == ["x|A|1", "x|A|3", "y|A|1"])
        }
    }

    @Test(arguments: [false, true]) func childrenAreMirroredWithinTheParentsThatWereSent(isGenerated: Bool) async throws
    {
        let schema = """
            CREATE TABLE parent (id \(isGenerated ? "INTEGER" : "bigint") PRIMARY KEY, name text UNIQUE);
            CREATE TABLE child (parent bigint REFERENCES parent, name text, PRIMARY KEY (parent, name));
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            let rule = MergeRule(keys: isGenerated ? ["parent": ["name"]] : [:])
            let mirror = MergeRule(sync: .mirror)
            func commit(_ children: [Int64: [String]]) throws -> MergeCounts {
                try fixture.commit(rule) { context in
                    let parents = children.keys.sorted()
                    let columns = isGenerated ? ["name"] : ["id", "name"]
                    var shape = RowShape.of("parent", columns, numbered: true)
                    shape.mirroredWithin = ["child"]
                    try context.stage(
                        shape, rule,
                        parents.map { (isGenerated ? [] : [.integer($0)]) + [.text("p\($0)"), .integer($0)] })
                    try context.stage(
                        .of(
                            "child", ["name"], [Self.parent("parent", "parent")],
                            within: .init(column: "parent", parent: "parent")), mirror,
                        parents.flatMap { parent in (children[parent] ?? []).map { [.text($0), .integer(parent)] } })
                }
            }
            #expect(try commit([1: ["a", "b"], 2: ["c"]]) == MergeCounts(inserted: 5))
            #expect(try commit([1: ["b"]]) == MergeCounts(deleted: 1, unchanged: 2))
            let left = "SELECT p.name, c.name FROM child c JOIN parent p ON p.id = c.parent ORDER BY 1, 2"
            #expect(try fixture.rows(left) == ["p1|b", "p2|c"])
            #expect(try commit([2: []]) == MergeCounts(deleted: 1, unchanged: 1))
            #expect(try fixture.rows(left) == ["p1|b"])
        }
    }
}
