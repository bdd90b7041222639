import FeedModel
import FeedStores
import Foundation
import Ledger
import Testing

struct RequestClaimsTests {
    private func claims(_ scopes: [String: [String: String]]) -> RequestClaims {
        var claims = RequestClaims()
        for (source, scope) in scopes {
            claims.set(.init(tables: ["Item"], scope: scope), of: RequestID(source: source, key: "1"))
        }
        return claims
    }

    private func sources(_ claims: inout RequestClaims, _ scope: [String: String] = [:]) -> [String] {
        claims.requests(of: "item", within: scope).map(\.source)
    }

    private func request(_ scope: [String: String], tables: Set<String> = ["item"]) -> RequestState {
        RequestState(
            key: "1", validators: Validators(), fingerprint: "f", tables: tables, sync: .mirror, scope: scope)
    }

    private func commit(_ source: String, _ requests: [RequestState], forgotten: [String] = []) -> Commit {
        Commit(
            report: RunReport(source: source, outcome: .committed, startedAt: .distantPast), requests: requests,
            state: SourceState(source: source), forgottenKeys: forgotten)
    }

    @Test func requestsAreFoundByTheirScopes() {
        var claims = claims(["a": ["shop": "n"], "b": ["shop": "s"], "c": [:]])
        #expect(sources(&claims) == ["a", "b", "c"])
        #expect(sources(&claims, ["shop": "n"]) == ["a", "c"])
        #expect(sources(&claims, ["Shop": "n", "day": "1"]) == ["a", "c"])
        #expect(sources(&claims, ["day": "1"]) == ["a", "b", "c"])
        #expect(claims.scopeColumns(of: "ITEM") == [["shop"]])
        #expect(claims.requests(of: "other", within: [:]).isEmpty)
    }

    @Test func aCommitChangesTheClaimsOfItsRequests() {
        var claims = claims(["a": ["shop": "n"], "b": ["shop": "s"]])
        claims.apply(commit("a", [request(["shop": "w"])]), widened: [])
        #expect(sources(&claims, ["shop": "n"]) == [])
        #expect(sources(&claims, ["shop": "w"]) == ["a"])
        claims.apply(commit("a", [request([:], tables: ["other"])]), widened: [])
        #expect(sources(&claims) == ["b"])
        claims.apply(commit("c", []), widened: [RequestID(source: "b", key: "1"), RequestID(source: "x", key: "1")])
        #expect(sources(&claims, ["shop": "w"]) == ["b"])
        claims.apply(commit("b", [], forgotten: ["1", "2"]), widened: [])
        #expect(sources(&claims) == [])
        #expect(claims.scopeColumns(of: "item") == [])
    }

    @Test func requestsLoseRowsThatLeaveExactlyTheirScope() {
        var claims = claims(["a": ["shop": "n"], "b": ["shop": "n", "day": "1"], "c": [:]])
        let comparison = TableComparison()
        let values = comparison.values(of: ["shop": "n"])
        #expect(claims.requests(of: "item", exactly: values, comparedBy: comparison).map(\.source) == ["a"])
    }

    /// The claims are found under the values that become known after them.
    @Test func claimsWhoseValuesBecomeKnown() {
        var claims = claims(["a": ["open": "yes"], "b": ["open": "no"], "c": ["open": "true"]])
        var comparison = TableComparison(columns: ["open": ColumnComparison(affinity: .numeric)])
        comparison.columns["open"]?.spellings = ValueSpellings(type: "boolean")
        func sources(_ scope: [String: String]) -> [String] {
            claims.requests(of: "item", within: scope, comparedBy: comparison).map(\.source)
        }
        #expect(sources(["open": "true"]) == ["c"])
        #expect(claims.scopes(of: "item", unknownTo: comparison).count == 3)
        for (text, shown) in ["yes": "1", "true": "1", "no": "0"] {
            comparison.columns["open"]?.spellings?[text] = shown
        }
        #expect(sources(["open": "true"]) == ["a", "c"])
        #expect(claims.scopes(of: "item", unknownTo: comparison).isEmpty)
        claims.set(nil, of: RequestID(source: "a", key: "1"))
        #expect(sources(["open": "yes"]) == ["c"])
    }
}
