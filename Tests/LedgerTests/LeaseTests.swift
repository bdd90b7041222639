import FeedModel
import FeedStaging
import FeedStores
import Foundation
import TestStores
import Testing

/// The right to run a source, of the processes that share a store.
@Suite(.onEachStore) struct LeaseTests {
    @Test func aSourceIsClaimedOnce() async throws {
        try await LeaseFixture.with { (fixture, members) async throws in
            let lease = try #require(try members[0].claim("one"))
            #expect(try members[0].claim("one") == nil)
            #expect(try members[1].claim("one") == nil)
            let second = try #require(try members[1].claim("two"))
            // A claim is no run.
            #expect(try members[0].store.read { try $0.sources.all() }.isEmpty)
            lease.unlock()
            lease.unlock()
            let again = try #require(try members[1].claim("one"))
            #expect(try members[0].claim("one") == nil)
            again.unlock()
            second.unlock()
            #expect(
                try fixture.tables.rows("SELECT source, lease, holder FROM tributary_source ORDER BY source") == [
                    "one|2|NULL", "two|1|NULL",
                ])
        }
    }

    @Test func ofManyWhoClaimASourceOneGetsIt() async throws {
        try await LeaseFixture.with(4) { (_, members) async throws in
            let claims = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<16 {
                    let member = members[number % 4]
                    group.addTask { try await onThread { try member.claim("s") != nil } }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(claims == 1)
        }
    }

    @Test func aRunWhoseLeaseIsLostCommitsNothing() async throws {
        try await LeaseFixture.with { (fixture, members) async throws in
            let (store, other) = (members[0].store, members[1].store)
            let lost = try #require(try members[0].claim("s"))
            try members[0].leases.renewLeases()
            #expect(try members[1].claim("s") == nil)
            try fixture.endLeases()
            let taken = try #require(try members[1].claim("s"))
            let holders = "SELECT holder, lease FROM tributary_source"
            try members[0].leases.renewLeases()
            #expect(try fixture.tables.rows(holders) == ["\(members[1].leases.daemonID)|2"])
            for mergesRows in [false, true] {
                func commit(to store: any MainStore) async throws {
                    guard mergesRows else { return try await store.record(.of("s")) }
                    let stack = StagedStack(path: nil, parts: [])
                    _ = try await store.commit(.of("s"), merging: stack, stop: Stop()) { 0 }
                }
                let error = await message { try await commit(to: store) }
                #expect(error == "the source 's' is run by another daemon now")
                try await commit(to: other)
            }
            let attempt = await message {
                try await store.writeInGroup {
                    try $0.sources.recordAttempt(of: "s", number: 1, wait: nil, declared: "", now: .now)
                }
            }
            #expect(attempt == "the source 's' is run by another daemon now")
            #expect(try store.read { try $0.runs.last(limit: 9) }.count == 2)
            // Giving up what is lost takes nothing from the other.
            lost.unlock()
            #expect(try fixture.tables.rows(holders) == ["\(members[1].leases.daemonID)|2"])
            taken.unlock()
            let again = try #require(try members[0].claim("s"))
            again.unlock()
        }
    }

    /// An unchanged run is counted in the row of an unchanged one before it, by another statement than a run of its own.
    @Test(arguments: [RunOutcome.committed, .unchanged])
    func aCommitGivesTheLeaseUp(outcome: RunOutcome) async throws {
        try await LeaseFixture.with { (fixture, members) async throws in
            var commit = Commit.of("s")
            commit.report.outcome = outcome
            commit.endsClaim = true
            for _ in 0..<3 {
                let lease = try #require(try members[0].claim("s"))
                try await members[0].store.record(commit)
                #expect(try fixture.tables.rows("SELECT holder, held_until FROM tributary_source") == ["NULL|NULL"])
                let taken = try #require(try members[1].claim("s"))
                let late = await message { try await members[0].store.record(commit) }
                #expect(late == "the source 's' is run by another daemon now")
                #expect(lease.endedWithCommit())
                lease.unlock()
                #expect(try fixture.tables.rows("SELECT holder FROM tributary_source") == [members[1].leases.daemonID])
                taken.unlock()
            }
        }
    }

    @Test func aLeaseThatEndedIsNotRenewed() async throws {
        try await LeaseFixture.with(1) { (fixture, members) async throws in
            let lease = try #require(try members[0].claim("s"))
            try lease.check()
            let isOver = "SELECT held_until < '2001-01-01T00:00:00.000Z' FROM tributary_source"
            try fixture.endLeases()
            try members[0].leases.renewLeases()
            #expect(try fixture.tables.rows(isOver) == ["1"])
            // A commit renews the lease that nobody has taken.
            try await members[0].store.record(.of("s"))
            #expect(try fixture.tables.rows(isOver) == ["0"])
            lease.unlock()
            let error = await message { try lease.check() }
            #expect(error?.contains("could not be renewed in time") == true)
        }
    }
}
