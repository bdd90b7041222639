import FeedModel
import FeedStores
import Foundation
import Testing
import TributaryEngine

@testable import TributaryWeb

struct ReviewViewTests {
    private func review(_ rows: [(id: Int64, city: String, name: String)]) -> ChangeReview {
        var reviewer = ChangeReviewer()
        for row in rows {
            reviewer.add(
                PlannedChange(
                    table: "shop", operation: .delete,
                    row: [
                        ("id", .integer(row.id)), ("city", .text(row.city)), ("name", .text(row.name)), ("note", .null),
                    ], key: ["id"]))
        }
        return reviewer.review(of: .distantPast, unchanged: 0)
    }

    private func html(_ review: ChangeReview) throws -> String {
        let view = ReviewView.view(review, ChangePart(), showsRows: true, action: nil, promise: "") { _, _ in "/" }
        return try Templates().render("review", view)
    }

    @Test func twoBarsShowTheRowsBeforeAndAfter() throws {
        let bars = try #require(SizeBars(MergeCounts(inserted: 10, updated: 20, deleted: 1_450, unchanged: 30)))
        #expect(bars.title.hasSuffix("1,500 before, 60 after"))
        // The longer bar has the whole width, and each part its share.
        let widths = bars.svg.matches(of: /rect class="([a-z]+)"[^>]* width="([0-9.]+)"/).map { "\($0.1) \($0.2)" }
        #expect(widths == ["unchanged 17.2", "deleted 498.8", "unchanged 17.2", "inserted 3.4"], "\(bars.svg)")
        #expect(SizeBars(MergeCounts(updated: 3, unchanged: 5)) == nil)
    }

    @Test func deletedRowsAreShownWholeWithWhatTheyHaveInCommon() throws {
        let cities = Array(repeating: "<Berlin>", count: 19) + ["Paris"]
        let page = try html(review(cities.enumerated().map { (Int64($0), $1, "n\($0)") }))
        #expect(
            page.contains("<p>Of the 20 deleted rows of shop: city is &lt;Berlin&gt; in 19.</p>"), "\(page)")
        #expect(page.contains("<span class=\"diff\">name <del>n7</del></span>"), "\(page)")
        #expect(!page.contains("<span class=\"diff\">id ") && !page.contains("<span class=\"diff\">note "), "\(page)")
        // Two rows have something in common by chance.
        #expect(try !html(review([(1, "a", "b"), (2, "a", "b")])).contains("deleted rows of"))
    }
}
