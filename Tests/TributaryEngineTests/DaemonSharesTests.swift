import FeedModel
import FeedStores
import Foundation
import TestSupport
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

    @Test func littleMoreMovesThanTheShareOfWhoComesOrGoes() {
        let three = DaemonShares(daemons(["a", "b", "c"]))
        let four = DaemonShares(daemons(["d", "c", "a", "b"]))
        let others = groups.keys.filter { source in
            let (before, after) = (three.owner(of: source), four.owner(of: source))
            return before != after && after != "d"
        }
        // Some level out among those that stay.
        #expect(others.count < 100, "\(others.count)")
        #expect((600...900).contains(four.sources(of: "d").count))
        #expect(three.fingerprint != four.fingerprint)
        #expect(three.fingerprint == DaemonShares(daemons(["c", "b", "a"])).fingerprint)
    }

    @Test func sharesAreWithinFifteenPercentWhereHostsAreFewOrOfManySizes() {
        for (hosts, sources) in [(60, 3000), (300, 3000), (400, 3000)] {
            let even = (0..<sources).map { ("s\($0)", "host\($0 % hosts)") }
            // From one source at a host to a hundred.
            let uneven = (0..<sources).map { ("s\($0)", "host\(Int(Double($0).squareRoot()))") }
            for groups in [even, uneven] {
                let shares = DaemonShares(
                    daemons(["a", "b", "c"], Dictionary(uniqueKeysWithValues: groups)))
                let parts = ["a", "b", "c"].map { shares.sources(of: $0).count }.sorted()
                #expect(Double(parts[2]) <= 1.15 * Double(parts[0]), "\(parts)")
            }
        }
    }

    @Test func aHostOfMostSourcesIsOneDaemons() {
        let groups = Dictionary(uniqueKeysWithValues: (0..<100).map { ("s\($0)", $0 < 80 ? "huge" : "host\($0)") })
        let shares = DaemonShares(daemons(["a", "b", "c"], groups))
        let parts = ["a", "b", "c"].map { shares.sources(of: $0).count }.sorted()
        #expect(parts[2] == 80 && parts[0] >= 5, "\(parts)")
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
        #expect(!shares.areAgreed(among: all, except: "a"))
        all[1].sharing = shares.fingerprint
        #expect(shares.stand(for: all) && !shares.areAgreed(among: all, except: "a"))
        all[2].sharing = shares.fingerprint
        #expect(shares.areAgreed(among: all, except: "a") && !shares.areAgreed(among: all, except: "b"))
        #expect(!shares.stand(for: Array(all.dropLast())))
        let alone = daemons(["a"])
        #expect(DaemonShares(alone).areAgreed(among: alone, except: "a"))
    }

    @Test func declaredSourcesSurviveTheirText() throws {
        let declared = DeclaredSources(["a": "x", "b": "x", "ü \"": "y"])
        #expect(try DeclaredSources(json: declared.json()) == declared)
        #expect(declared.fingerprint != DeclaredSources(["a": "x", "b": "y", "ü \"": "y"]).fingerprint)
    }

    @Test func ownershipEndsWithoutSignsOfLife() {
        let clock = ManualClock()
        let ownership = Ownership { clock.uptime }
        ownership.add(["a"])
        #expect(!ownership.owns("a") && ownership.isOver)
        ownership.extend(from: clock.uptime)
        #expect(ownership.owns("a") && !ownership.owns("b") && !ownership.isOver)
        clock.advance(by: 15)
        #expect(!ownership.owns("a") && ownership.sources == ["a"])
    }
}
