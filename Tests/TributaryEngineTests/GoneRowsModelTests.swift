import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Random documents after one another, merged with `deleted` and `window`, beside a plain model of what becomes of the
/// rows.
@Suite(.onEachStore) struct GoneRowsModelTests {
    private struct Record {
        var name: String
        var day: Int
        var scope: String
        /// The run that marked it; nil where it is there.
        var gone: Int?
    }

    /// What the store has to hold, by the records' ids.
    private struct Model {
        var rows: [String: Record] = [:]

        /// - Parameter feeds: the records of each scope; a scope that is missing answered that nothing has changed.
        mutating func merge(_ feeds: [String: [(id: String, record: Record)]], run: Int) -> MergeCounts {
            var counts = MergeCounts()
            var staged: [String: Record] = [:]
            for scope in feeds.keys.sorted() {
                for entry in feeds[scope] ?? [] { staged[entry.id] = entry.record }
            }
            for (scope, feed) in feeds {
                guard let first = feed.map(\.record.day).min() else { continue }
                for (id, row) in rows
                where row.scope == scope && row.gone == nil && row.day >= first && staged[id] == nil {
                    rows[id]?.gone = run
                    counts.deleted += 1
                }
            }
            for (id, record) in staged {
                guard let known = rows[id] else {
                    rows[id] = record
                    counts.inserted += 1
                    continue
                }
                let isSame = known.name == record.name && known.day == record.day && known.scope == record.scope
                if known.gone != nil {
                    counts.inserted += 1
                } else if isSame {
                    counts.unchanged += 1
                } else {
                    counts.updated += 1
                }
                rows[id] = record
            }
            return counts
        }

        /// The rows as the store tells them, `times` being those of the runs.
        func told(_ times: [String]) -> [String] {
            rows.sorted { $0.key < $1.key }.map { id, row in
                "\(id)|\(row.name)|\(row.day)|\(row.scope)|\(row.gone.map { times[$0] } ?? "NULL")"
            }
        }
    }

    private static let sources = ["a", "b"].map { scope in
        """
        [[sources.s.requests]]
        url = "URL/\(scope)"
        sync = "mirror"
        scope = { shop = "\(scope)" }
        max_deleted = "100%"
        [[sources.s.requests.tables]]
        table = "thing"
        element = "item"
        key = ["id"]
        window = "day"
        deleted = "gone_at"
        [sources.s.requests.tables.columns]
        id   = "@id"
        name = "@name"
        day  = { path = "@day", type = "integer" }

        """
    }.joined()

    @Test(arguments: 1...3) func anySequenceOfDocuments(seed: UInt64) async throws {
        try await EngineFixture.with { (fixture) async throws in
            var random = SplitMix64(seed: seed)
            var model = Model()
            var times: [String] = []
            for run in 0..<15 {
                fixture.clock.advance(by: 1)
                times.append(fixture.clock.now().formatted(.iso8601))
                var feeds: [String: [(id: String, record: Record)]] = [:]
                // An id is in one of the documents at most, and may change over.
                let ids = (1...8).filter { _ in Int.random(in: 0..<3, using: &random) > 0 }
                for scope in ["a", "b"] {
                    let own = ids.filter { ($0 + run / 6) % 2 == (scope == "a" ? 0 : 1) }
                    var feed = own.map { number in
                        (
                            id: "\(number)",
                            record: Record(
                                name: "\(Int.random(in: 0..<3, using: &random))",
                                day: Int.random(in: 0..<4, using: &random), scope: scope)
                        )
                    }
                    // A document without a record would be refused.
                    if feed.isEmpty { feed = [(id: "only \(scope)", record: Record(name: "x", day: 9, scope: scope))] }
                    feeds[scope] = feed
                    let items = feed.map {
                        "<item id='\($0.id)' name='\($0.record.name)' day='\($0.record.day)'/>"
                    }
                    fixture.server.document("/\(scope)", "<items run='\(run)'>\(items.joined())</items>")
                }
                let expected = model.merge(feeds, run: run)
                let report = try #require(try await fixture.sync(Self.sources, clock: fixture.clock).first)
                #expect(report.error == nil)
                #expect(report.counts == expected, "seed \(seed), run \(run)")
                let rows = try fixture.rows("SELECT id, name, day, shop, gone_at FROM thing ORDER BY id")
                guard rows == model.told(times) else {
                    Issue.record("seed \(seed), run \(run): \(rows) instead of \(model.told(times))")
                    return
                }
                // The changelog says the same as the figures.
                let changelog = try fixture.rows(
                    """
                    SELECT operation, count(*) FROM tributary_change WHERE run = (SELECT max(id) FROM tributary_run)
                    GROUP BY operation ORDER BY 1
                    """)
                let figures = [
                    ("delete", expected.deleted), ("insert", expected.inserted), ("update", expected.updated),
                ]
                #expect(changelog == figures.filter { $0.1 > 0 }.map { "\($0.0)|\($0.1)" })
            }
        }
    }
}
