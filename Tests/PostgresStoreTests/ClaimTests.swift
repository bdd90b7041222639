import FeedModel
import Foundation
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore
@testable import class FeedStores.ClaimWatch

/// Rows that leave the scopes of requests, or never were in them, as types of PostgreSQL's compare.
@Suite struct ClaimTests {
    /// Requests of another source that lay claim to rows of the table `place`, each by its region.
    private struct Claims: ClaimIndex {
        var regions: [String]
        var type = ColumnComparison.exact

        func scopeColumns(of table: String) -> [Set<String>] { table == "place" ? [["region"]] : [] }

        func comparison(of table: String, _ columns: Set<String>, scopes: [[String: String]]) -> TableComparison {
            TableComparison(columns: ["region": type])
        }

        func requests(of table: String, within scope: [String: String]) -> [RequestID] { [] }

        func hasRows(_ table: String) -> Bool { true }

        func requests(losing row: ScopeExit) -> Set<RequestID> {
            Set(regions.filter { row.values["region"] == type.value($0) }.map { RequestID(source: "other", key: $0) })
        }
    }

    private typealias Request = (rule: MergeRule, stage: (WorkerContext) throws -> Void)

    private func request(_ scope: [String: String], _ places: [(String, String?)]) -> Request {
        (
            MergeRule(sync: .mirror, scope: scope),
            { context in
                for (id, region) in places {
                    if let region {
                        try context.insert(into: "place", ["id": id, "region": region])
                    } else {
                        try context.insert(into: "place", ["id": id])
                    }
                }
            }
        )
    }

    /// Commits, and returns the strays' regions, and the requests whose claims are widened.
    private func commit(
        _ requests: [Request], to fixture: MergeFixture, claims: Claims = Claims(regions: [])
    ) throws -> (strays: [String], widened: [String]) {
        let watch = ClaimWatch(claims)
        let strays = try fixture.commit(requests, claims: watch)
        var commit = Commit(
            report: RunReport(source: "s", outcome: .committed, startedAt: Date()), requests: [],
            state: SourceState(source: "s", outcome: .committed))
        let widened = try watch.widen(&commit, outOfScope: strays)
        return (strays.compactMap { $0.scope["region"] }.sorted(), widened.map(\.key).sorted())
    }

    /// As the column compares them.
    @Test(arguments: [("bigint", "1", "01"), ("numeric", "10", "10.0"), ("boolean", "true", "t")])
    func equalValuesAreInside(type: String, one: String, other: String) async throws {
        try await MergeFixture.with("CREATE TABLE place (id text PRIMARY KEY, region \(type))") {
            (fixture) async throws in
            let found = try commit([request(["region": one], [("1", other)])], to: fixture)
            #expect(found.strays.isEmpty)
        }
    }

    @Test func scopesThatTheColumnHoldsEqual() async throws {
        try await MergeFixture.with("CREATE TABLE place (id text PRIMARY KEY, region bigint)") {
            (fixture) async throws in
            let claims = Claims(regions: ["01", "2"], type: ColumnComparison(affinity: .numeric))
            _ = try commit([request(["region": "1"], [("1", nil)])], to: fixture, claims: claims)
            let moved = try commit([request(["region": "3"], [("1", nil)])], to: fixture, claims: claims)
            #expect(moved.widened == ["01"])
        }
    }
}
