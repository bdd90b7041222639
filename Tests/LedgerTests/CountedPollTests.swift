import FeedModel
import FeedStores
import Foundation
import TestStores
import Testing

/// Unchanged polls that the row of the one before them counts.
@Suite(.onEachStore) struct CountedPollTests {
    private let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let hour = 3_600.0

    /// Records an unchanged poll of the source `s`.
    ///
    /// - Parameters:
    ///   - seconds: when it began.
    ///   - change: what is different about it.
    private func poll(
        _ store: LedgerFixture.Store, at seconds: Double, took: Double = 0.5,
        _ change: (inout RunReport) -> Void = { _ in }
    ) async throws {
        var commit = Commit.of("s")
        commit.report.startedAt = now + seconds
        commit.report.seconds = took
        commit.report.requests = [RequestReport(key: "1", status: 304, outcome: .unchanged, seconds: took)]
        change(&commit.report)
        commit.state.outcome = commit.report.outcome
        commit.state.nextDue = now + seconds + hour
        try await store.record(commit)
    }

    private func polls(_ tables: TestStore) throws -> [String] {
        try tables.rows("SELECT polls FROM tributary_run WHERE source = 's' ORDER BY id")
    }

    @Test func theRowOfAnUnchangedPollCountsThoseThatFollow() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            try await poll(store, at: 0)
            let first = try store.read { try $0.runs.last(of: "s", limit: 9) }
            try await poll(store, at: hour, took: 2)
            try await store.record(.of("other"))
            try await poll(store, at: 2 * hour)
            let runs = try store.read { try $0.runs.last(of: "s", limit: 9) }
            let run = try #require(runs.first)
            #expect(runs.count == 1 && run.polls == 3 && run.number == first.first?.number)
            #expect(run.startedAt == now && run.finishedAt == now + 2 * hour + 0.5)
            #expect(run.seconds == 2 && run.requests.map(\.seconds) == [2])
            #expect(try store.read { try $0.sources.state(of: "s") }.nextDue == now + 3 * hour)
            let recent = try store.read {
                try $0.runs.recent(of: [("s", nil)], limit: 9, changedSince: now)
            }
            #expect(recent["s"]?.runs.map(\.polls) == [3] && recent["s"]?.runs.first?.finishedAt == run.finishedAt)
            // A store that was lost in a commit is asked so whether the poll is in it.
            func isRecorded(at seconds: Double) throws -> Bool {
                let poll = RecordedRun(id: run.number ?? 0, transaction: "", source: "s", startedAt: now + seconds)
                return try store.read { try $0.runs.isRecorded(poll) }
            }
            #expect(try isRecorded(at: 0) && isRecorded(at: 2 * hour) && !isRecorded(at: 3 * hour))
        }
    }

    @Test func aPollThatIsDifferentHasARowOfItsOwn() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            try await poll(store, at: 0)
            try await poll(store, at: 60) { $0.requests[0].status = 200 }
            try await poll(store, at: 120)
            try await poll(store, at: 180) { $0.requests[0].note = "a remark" }
            try await poll(store, at: 240) { $0.requests[0].bytes = 7 }
            try await poll(store, at: 300) { $0.requests.append($0.requests[0]) }
            #expect(try polls(tables) == ["1", "1", "1", "1", "1", "1"])
            try await poll(store, at: 360) { $0.outcome = .discarded }
            // It ends the failure, as the next one does not.
            try await poll(store, at: 420) { $0.failingSince = now + 360 }
            try await poll(store, at: 480)
            try await poll(store, at: 540)
            #expect(try polls(tables).suffix(3) == ["1", "1", "2"])
            try await poll(store, at: 600) { $0.kind = .replay }
            try await poll(store, at: 660)
            #expect(try polls(tables).suffix(3) == ["2", "1", "1"])
            // A row counts for a day, and a clock may be set back.
            try await poll(store, at: 659 + 24 * hour)
            try await poll(store, at: 660 + 24 * hour)
            #expect(try polls(tables).suffix(2) == ["2", "1"])
            try await poll(store, at: 20 * hour)
            #expect(try polls(tables).suffix(3) == ["2", "1", "1"])
        }
    }

    /// A hook reads each run once, and learns from it that the source is well again.
    @Test func aSourceThatAHookKnowsToBeStaleHasANewRow() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            _ = try store.declareHooks(["h"])
            #expect(try store.holdHook("h"))
            func remember(_ memory: HookMemory) throws {
                try store.write { ledger in
                    try ledger.hooks.advance("h", HookProgress(position: .start, memory: ("s", memory)))
                }
            }
            try await poll(store, at: 0)
            try remember(HookMemory(isStale: true))
            try await poll(store, at: hour)
            #expect(try polls(tables) == ["1", "1"])
            try remember(HookMemory())
            try await poll(store, at: 2 * hour)
            #expect(try polls(tables) == ["1", "2"])
        }
    }

    @Test func figuresShowTheCountedPollsWhereTheyWere() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            for number in 0..<24 { try await poll(store, at: Double(number) * hour) { $0.requests[0].bytes = 10 } }
            #expect(try polls(tables) == ["24"])
            let all = try store.read { try $0.runs.figures(of: "s", from: now, spansOf: hour) }
            #expect(all.map(\.span) == Array(0..<24) && all.allSatisfy { $0.unchanged == 1 && $0.runs == 1 })
            // The row began before the time that is looked at.
            let last = try store.read { try $0.runs.figures(of: "s", from: now + 10 * hour, spansOf: 2 * hour) }
            #expect(last.map(\.span) == Array(0..<7) && last.allSatisfy { $0.unchanged == 2 })
        }
    }

    @Test func aRowIsAsOldAsTheLastPollThatItCounts() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            var other = Commit.of("other")
            other.report.startedAt = now
            try await store.record(other)
            try await poll(store, at: 1)
            other.report.startedAt = now + 1_900
            try await store.record(other)
            try await poll(store, at: hour)
            #expect(try !store.forgetRuns(before: now + 1_800, keeping: [:]))
            #expect(try tables.rows("SELECT count(*) FROM tributary_run") == ["3"])
            _ = try store.forgetRuns(before: now + 2 * hour, keeping: [:])
            #expect(try tables.rows("SELECT id FROM tributary_run") == ["3"])
        }
    }
}
