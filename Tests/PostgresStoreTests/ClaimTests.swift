import FeedModel
import Foundation
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore
@testable import class FeedStores.ClaimWatch

/// Rows that leave the scopes of requests, or never were in them.
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

    private func request(
        _ scope: [String: String], sync: SyncMode = .mirror, _ places: [(String, String?)]
    ) -> Request {
        (
            MergeRule(sync: sync, scope: scope),
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

    private let schema = "CREATE TABLE place (id text PRIMARY KEY, region text)"

    @Test func rowsOutsideTheScopeThatTheFeedFillsItself() async throws {
        try await MergeFixture.with(schema) { (fixture) async throws in
            let found = try commit(
                [request(["region": "a"], [("1", "b"), ("2", "a")]), request(["region": "b"], [("3", "b")])],
                to: fixture)
            #expect(found.strays == ["a"])
            let none = try commit([request(["region": "a"], [("2", "a")])], to: fixture)
            #expect(none.strays.isEmpty && none.widened.isEmpty)
            let missing = try commit([request(["region": "a"], [("4", "a"), ("5", nil)])], to: fixture)
            #expect(missing.strays.isEmpty)
        }
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

    /// A row that is kept as it is stays where another request has put it.
    @Test func knownRowsThatAreKept() async throws {
        try await MergeFixture.with(schema) { (fixture) async throws in
            _ = try commit([request(["region": "b"], [("1", nil)])], to: fixture)
            let kept = try commit([request(["region": "a"], sync: .insert, [("1", nil)])], to: fixture)
            #expect(kept.strays == ["a"])
            let own = try commit([request(["region": "b"], sync: .insert, [("1", nil)])], to: fixture)
            #expect(own.strays.isEmpty)
        }
    }

    /// Two requests of a stack, each with a scope of its own, send one row.
    @Test func rowsOfSeveralScopes() async throws {
        try await MergeFixture.with(schema + "; ALTER TABLE place ADD n bigint") { (fixture) async throws in
            let found = try commit(
                [
                    request(["region": "a"], [("1", nil)]),
                    (
                        MergeRule(sync: .mirror, scope: ["region": "b"]),
                        { try $0.insert(into: "place", ["id": "1", "n": 5]) }
                    ),
                ], to: fixture)
            #expect(found.strays == ["a", "b"])
            #expect(try fixture.rows("SELECT * FROM place") == ["1|b|5"])
        }
    }

    @Test func rowsThatLeaveTheScopeOfAnother() async throws {
        try await MergeFixture.with(schema) { (fixture) async throws in
            let claims = Claims(regions: ["a", "c"])
            _ = try commit([request(["region": "a"], [("1", nil), ("2", nil)])], to: fixture, claims: claims)
            let moved = try commit([request(["region": "b"], [("1", nil)])], to: fixture, claims: claims)
            #expect(moved.widened == ["a"])
            let stays = try commit([request(["region": "b"], [("1", nil)])], to: fixture, claims: claims)
            #expect(stays.widened.isEmpty)
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

    /// Requests of the commit itself claim everything from then on.
    @Test func ownRequestsAreWidened() async throws {
        try await MergeFixture.with(schema) { (fixture) async throws in
            _ = try commit([request(["region": "a"], [("1", nil)])], to: fixture)
            let watch = ClaimWatch(Claims(regions: []))
            _ = try fixture.commit([request(["region": "b"], [("1", nil)])], claims: watch)
            func state(_ region: String) -> RequestState {
                RequestState(
                    key: region, validators: Validators(), fingerprint: "", tables: ["place"], sync: .mirror,
                    scope: ["region": region])
            }
            var commit = Commit(
                report: RunReport(source: "s", outcome: .committed, startedAt: Date()),
                requests: [state("a"), state("b")],
                state: SourceState(source: "s", outcome: .committed))
            #expect(try watch.widen(&commit, outOfScope: []).isEmpty)
            #expect(commit.requests.map(\.scope) == [[:], ["region": "b"]])
        }
    }
}
