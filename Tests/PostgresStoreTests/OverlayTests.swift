import FeedModel
@testable import PostgresStore
import Testing
@testable import FeedStaging
@testable import FeedStores

/// Rows of several shapes for one table: what came last overrules, column by column, and a row counts once.
@Suite struct OverlayTests {
    /// Equal by the key's own type, whatever its text.
    @Test func keysThatTheColumnHoldsEqual() async throws {
        try await MergeFixture.with("CREATE TABLE item (id numeric PRIMARY KEY, name text, size bigint)") {
            (fixture) async throws in
            let merged = try fixture.commit { context in
                try context.insert(into: "item", ["id": "1.0", "name": "N"])
                try context.insert(into: "item", ["id": "1.00", "size": 5])
            }
            #expect(merged == MergeCounts(inserted: 1))
            #expect(try fixture.rows("SELECT name, size FROM item") == ["N|5"])
        }
    }
}
