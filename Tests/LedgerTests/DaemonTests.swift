import FeedModel
import FeedStores
import Foundation
import TestStores
import Testing

/// The daemons that share a store.
@Suite(.onEachStore) struct DaemonTests {
    @Test func daemonsKnowEachOtherByTheirBeats() async throws {
        try await LeaseFixture.with { (fixture, members) async throws in
            let (one, two) = (members[0].leases, members[1].leases)
            var first = members[0].record("one", ["a": "x", "b": "y"])
            var second = members[1].record("two", ["a": "x", "c": "z"])
            #expect(try one.beat(first) == [first])
            #expect(try two.beat(second) == [first, second])
            first.sharing = "both"
            first.declared = DeclaredSources(["a": "x", "d": "w"])
            #expect(try one.beat(first) == [first, second])
            second.sharing = "both"
            #expect(try two.beat(second) == [first, second])
            try fixture.silence("one")
            #expect(try two.beat(second) == [second])
            #expect(try one.beat(first) == [first, second])
            try one.leave()
            #expect(try two.daemons() == [second])
        }
    }

    /// A daemon with an older file forgets no hook of which another daemon tells, even one that is idle.
    @Test func hooksOfOthersStay() async throws {
        try await LeaseFixture.with { (_, members) async throws in
            let (one, two) = (members[0].store, members[1].store)
            _ = try one.declareHooks(["chat"])
            _ = try members[0].leases.beat(members[0].record("one"))
            #expect(try two.declareHooks(["index"]).isEmpty)
            #expect(try two.read { try $0.hooks.all() }.keys.sorted() == ["chat", "index"])
            _ = try members[1].leases.beat(members[1].record("two"))
            try members[0].leases.leave()
            #expect(try two.declareHooks(["index"]) == ["chat"])
            #expect(try two.read { try $0.hooks.all() }.keys.sorted() == ["index"])
        }
    }

    @Test func oneDaemonServesAHook() async throws {
        try await LeaseFixture.with { (fixture, members) async throws in
            let (one, two) = (members[0].leases, members[1].leases)
            _ = try members[0].store.declareHooks(["chat"])
            let progress = HookProgress(
                position: try members[0].store.read { try $0.changelog.lastPosition() }, step: 1)
            #expect(try one.holdHook("chat"))
            #expect(try one.holdHook("chat"))
            #expect(try !two.holdHook("chat"))
            try fixture.endHookLeases()
            #expect(try two.holdHook("chat"))
            let error = await message { try members[0].store.write { try $0.hooks.advance("chat", progress) } }
            #expect(error == "the hook 'chat' is served by another daemon now")
            try members[1].store.write { try $0.hooks.advance("chat", progress) }
            try one.releaseHook("chat")
            #expect(try !one.holdHook("chat"))
            try two.releaseHook("chat")
            #expect(try one.holdHook("chat"))
        }
    }

    @Test func standingsTellWhoseRunsAreLeft() async throws {
        try await LeaseFixture.with(3) { (_, members) async throws in
            let (one, two, hand) = (members[0], members[1], members[2])
            // Before the leases, which would end if the commit had to wait for other tests.
            try await one.store.record(.of("mine"))
            _ = try two.leases.beat(two.record("two"))
            let claims = [
                try #require(try one.claim("mine")), try #require(try two.claim("theirs")),
                try #require(try hand.claim("by hand")),
            ]
            let standings = try one.leases.standings(of: ["mine", "theirs", "by hand", "unknown"])
            #expect(standings.filter(\.value.isRunElsewhere).map(\.key) == ["theirs"])
            #expect(standings.filter { $0.value.state != nil }.map(\.key) == ["mine"])
            #expect(
                try one.leases.runners() == [
                    "mine": one.leases.daemonID, "theirs": two.leases.daemonID, "by hand": hand.leases.daemonID,
                ])
            for claim in claims { claim.unlock() }
            #expect(try one.leases.runners().isEmpty)
        }
    }
}
