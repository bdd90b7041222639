import FeedModel
import FeedStores
import Foundation
import Testing

@testable import TributaryWeb

struct RowPageTests {
    /// A store whose changelog is never searched in time.
    private final class SlowStore: StoreBrowsing {
        let changes: [RowChange]?
        private let table = BrowsedTable(
            name: "price", columns: [.init(name: "id", type: "TEXT")], key: ["id"], sources: ["shop"])

        init(_ changes: [RowChange]?) { self.changes = changes }

        func browsedTables(_ names: Set<String>?) -> [BrowsedTable] { [table] }

        func browsedNames() -> [String: [String]] { ["price": ["shop"]] }

        func browsedTable(_ name: String) -> BrowsedTable? { table }

        func rows(_ query: RowQuery, within limit: Duration, _ body: (BrowsedRow) throws -> Bool) {}

        func values(of column: String, _ query: RowQuery, most: Int, within limit: Duration) -> ValueCounts {
            ValueCounts(values: [], rows: 0)
        }

        func row(_ key: [StoredValue], of table: String, within limit: Duration) -> BrowsedRow? {
            BrowsedRow(values: key, place: RowPlace(key: key))
        }

        func writings(
            of key: [StoredValue], in table: String, declared keys: [[String]], most: Int, within limit: Duration
        ) throws -> [RowWriting] { throw RowQuery.Problem.late(after: limit) }

        func history(of key: [StoredValue], in table: String, most: Int, within limit: Duration) -> [RowChange]? {
            changes
        }
    }

    private func html(_ changes: [RowChange]?) throws -> String {
        let page = try #require(
            try RowPage(
                "price", [.text("1")], declared: [], searchesAll: false, in: SlowStore(changes), templates: Templates())
        )
        return page.page().fragments.map(\.html).joined()
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
