import FeedModel
import FeedStores
import Foundation
import Testing

@testable import TributaryWeb

struct RowPageTests {
    private static let table = BrowsedTable(
        name: "price", columns: [.init(name: "id", type: "TEXT"), .init(name: "<amount>", type: "")], key: ["id"],
        sources: ["shop"])

    /// Returns the page of a row whose changelog was not searched in time.
    private func html(_ changes: [RowChange]?) throws -> String {
        let key = [StoredValue.text("1")]
        let page = RowPage(
            table: Self.table, key: key, row: BrowsedRow(values: key + [.text("3")], place: RowPlace(key: key)),
            writings: nil, history: changes, children: [], searchesAll: false, decimals: ["<amount>"])
        return try page.page(Templates()).fragments.map(\.html).joined()
    }

    private func change(_ run: Int64, from old: StoredValue?, to new: StoredValue?) -> RowChange {
        RowChange(
            run: run, source: "shop", startedAt: Date(timeIntervalSince1970: 1_790_000_000 + Double(run)),
            table: "price", operation: "update", key: [("id", .text("1"))],
            old: old.map { [("id", .text("1")), ("<amount>", $0)] },
            new: new.map { [("id", .text("1")), ("<amount>", $0)] })
    }

    @Test func aNumberThatHasChangedHasAPlot() throws {
        let plotted = try html([
            change(3, from: .null, to: .real(2.5)), change(2, from: .text("12.5"), to: .null),
            change(1, from: nil, to: .text("12.5")),
        ])
        #expect(plotted.contains("<figcaption id=\"plot-0\">&lt;amount&gt; over time</figcaption>"), "\(plotted)")
        #expect(plotted.contains(">12.5</text>") && plotted.contains(">2.5</text>"), "\(plotted)")
        // The line ends where the number was NULL, and begins anew.
        let path = try #require(plotted.firstMatch(of: /<path class="step" d="([^"]*)"/)?.1)
        #expect(path.wholeMatch(of: /M[0-9. ]+[HV0-9.]+M[0-9. ]+H[0-9.]+/) != nil, "\(path)")
        // A number that stays, and texts that are no numbers.
        for value: StoredValue in [.integer(3), .text("x")] {
            let plain = try html([change(2, from: value, to: value), change(1, from: nil, to: value)])
            #expect(!plain.contains("<figure>"), "\(plain)")
        }
    }

    @Test func theLabelsOfAPlotAreShort() {
        let texts = [0, 12.5, -9_999_999, 10_000_000, 0.000_123_456, -1.5e300, 1.23456e-300, 1_234_567.89].map(
            StepPlot.text)
        #expect(texts == ["0", "12.5", "-9,999,999", "1E7", "0.0001235", "-1.5E300", "1.235E-300", "1,234,568"])
    }

    @Test func onlyAddressesOfPagesAreLinks() {
        for text in ["https://shop.example/a?b=1&c=2", "HTTP://shop.example"] {
            #expect(StoredValue.text(text).webAddress == text)
        }
        for text in [
            "javascript:alert(1)", " https://shop.example", "https://shop.example is down", "see https://a.b",
            "https://", "https://shop.example/\u{0}", "data:text/html,x", "//shop.example",
        ] {
            #expect(StoredValue.text(text).webAddress == nil, "\(text)")
        }
        #expect(StoredValue.text("https://" + String(repeating: "a", count: 2_000)).webAddress == nil)
    }

    @Test func aRowWithAHistoryIsNotSaidToBeSearchedInPart() throws {
        let change = RowChange(
            run: 7, source: "shop", startedAt: .distantPast, table: "price", operation: "insert",
            key: [("id", .text("1"))], new: [("id", .text("1"))])
        let known = try html([change])
        #expect(known.contains("shop, run 7") && !known.contains("only a part"), "\(known)")
        #expect(known.contains("id=\"changelog\" href=\"/tables/price/row?key=t1&amp;changelog=all\""), "\(known)")
        let unknown = try html(nil)
        #expect(
            unknown.contains("only a part of it was searched") && unknown.contains("id=\"changelog\""), "\(unknown)")
    }
}
