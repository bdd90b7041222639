import FeedModel
import Foundation
@testable import FeedStores
import Testing
@testable import FeedStaging
@testable import PostgresStore

/// Rows that leave the scopes of requests, or never were in them, as types of PostgreSQL's compare.
@Suite struct ClaimTests {
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

    /// Commits, and returns the strays' regions, and the requests of other sources whose claims are widened.
    private func commit(
        _ requests: [Request], to fixture: MergeFixture
    ) throws -> (strays: [String], widened: [String]) {
        let watch = ClaimWatch(fixture.store.claims(fixture.connection))
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

    /// Found by the index of claims, or by comparing all of them.
    @Test(arguments: [
        ("bigint", "1", "01", "2"), ("numeric(10,2)", "1.005", "1.01", "2"),
        ("date", "2026-01-01", "20260101", "2026-01-02"), ("text", "A", "A", "a"),
    ])
    func scopesThatTheColumnHoldsEqual(type: String, one: String, other: String, third: String) async throws {
        try await MergeFixture.with("CREATE TABLE place (id text PRIMARY KEY, region \(type))") {
            (fixture) async throws in
            let states = [other, third].map { region in
                RequestState(
                    key: region, validators: Validators(), fingerprint: "f", tables: ["place"], sync: .mirror,
                    scope: ["region": region])
            }
            try fixture.store.write { try $0.requests.write(states, of: "other") }
            _ = try commit([request(["region": one], [("1", nil)])], to: fixture)
            let moved = try commit([request(["region": third], [("1", nil)])], to: fixture)
            #expect(moved.widened == [other])
        }
    }
}
