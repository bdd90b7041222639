import FeedModel
import FeedStores
import Foundation
import Testing

@testable import TributaryEngine

/// The rows that a review keeps.
@Suite struct ChangeReviewTests {
    /// Rows of a child table, which are reported first, must not crowd out those of their parents.
    @Test func eachTableKeepsItsShare() {
        var reviewer = ChangeReviewer()
        for (table, count) in [("category", 6_000), ("image", 6_000), ("product", 1_000)] {
            for number in 0..<count {
                let key = (column: "id", value: StoredValue.integer(Int64(number)))
                reviewer.add(PlannedChange(table: table, operation: .delete, row: [key], key: ["id"]))
            }
        }
        let review = reviewer.review(of: Date(), unchanged: 0)
        let kept = Dictionary(grouping: review.rows, by: \.table).mapValues(\.count)
        #expect(kept == ["category": 2_000, "image": 2_000, "product": 1_000])
        #expect(review.omitted == 8_000 && review.tables.map(\.deleted) == [6_000, 6_000, 1_000])
    }
}
