import FeedModel
import FeedStores
import Foundation
import Testing

@testable import TributaryEngine

@Suite struct DaemonSharesTests {
    private let groups = Dictionary(uniqueKeysWithValues: (0..<3000).map { ("s\($0)", "host\($0 / 3)") })

    private func daemons(_ ids: [String], _ groups: [String: String]? = nil) -> [DaemonRecord] {
        ids.map {
            DaemonRecord(
                id: $0, name: $0, startedAt: .distantPast, declared: DeclaredSources(groups ?? self.groups))
        }
    }

    @Test func everySourceHasOneOwnerAndSharesAreEven() {
        let shares = DaemonShares(daemons(["a", "b", "c"]))
        let parts = ["a", "b", "c"].map { shares.sources(of: $0) }
        #expect(parts.reduce(0) { $0 + $1.count } == 3000)
        #expect(parts.reduce(into: Set<String>()) { $0.formUnion($1) }.count == 3000)
        #expect(parts.allSatisfy { (900...1100).contains($0.count) }, "\(parts.map(\.count))")
        for host in 0..<1000 {
            #expect(Set((0..<3).map { shares.owner(of: "s\(host * 3 + $0)") }).count == 1)
        }
    }

    @Test func onlyTheShareOfWhoComesOrGoesMoves() {
        let three = DaemonShares(daemons(["a", "b", "c"]))
        let four = DaemonShares(daemons(["d", "c", "a", "b"]))
        for source in groups.keys {
            let (before, after) = (three.owner(of: source), four.owner(of: source))
            #expect(before == after || after == "d")
        }
        #expect((600...900).contains(four.sources(of: "d").count))
        #expect(three.fingerprint != four.fingerprint)
        #expect(three.fingerprint == DaemonShares(daemons(["c", "b", "a"])).fingerprint)
    }

    @Test func sourcesBelongToWhoDeclaresThem() {
        let all = daemons(["a", "b"]) + daemons(["c"], ["only": "h", "s1": "elsewhere"])
        let shares = DaemonShares(all)
        #expect(shares.owner(of: "only") == "c" && shares.owner(of: "nowhere") == nil)
        #expect(shares.sources(of: "c").isSubset(of: ["only", "s1"]))
        #expect(["a", "b", "c"].filter { shares.sources(of: $0).contains("s1") } == [shares.owner(of: "s1")])
    }

    @Test func daemonsAgreeOnceAllKnowTheSame() {
        var all = daemons(["a", "b", "c"])
        let shares = DaemonShares(all)
        #expect(!shares.areAgreed(besides: "a"))
        all[1].sharing = shares.fingerprint
        #expect(!DaemonShares(all).areAgreed(besides: "a"))
        all[2].sharing = shares.fingerprint
        #expect(DaemonShares(all).areAgreed(besides: "a") && !DaemonShares(all).areAgreed(besides: "b"))
        #expect(DaemonShares(daemons(["a"])).areAgreed(besides: "a"))
    }

    @Test func declaredSourcesSurviveTheirText() throws {
        let declared = DeclaredSources(["a": "x", "b": "x", "ü \"": "y"])
        #expect(try DeclaredSources(json: declared.json()) == declared)
        #expect(declared.fingerprint != DeclaredSources(["a": "x", "b": "y", "ü \"": "y"]).fingerprint)
    }

    @Test func ownershipEndsWithoutSignsOfLife() {
        let ownership = Ownership()
        ownership.add(["a"])
        #expect(!ownership.owns("a") && ownership.isOver)
        ownership.extend(from: .now)
        #expect(ownership.owns("a") && !ownership.owns("b") && !ownership.isOver)
        ownership.extend(from: .now - .seconds(15))
        #expect(!ownership.owns("a") && ownership.sources == ["a"])
    }
}
