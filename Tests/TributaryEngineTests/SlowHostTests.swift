import FeedFetching
import FeedModel
import Foundation
import FeedConfiguration
import FeedDeclarations
import FeedParsing
import TestEngine
import TestSupport
import Testing

@testable import TributaryEngine

/// Slow hosts share what is left after healthy ones.
@Suite struct SlowHostTests {
    // MARK: - What is slow

    /// Takes a sample every half second.
    private func samples(_ count: Int, worked: Duration = .zero, bytes: Int) -> (idle: Int, watch: StallWatch) {
        var watch = StallWatch(worked: .zero, bytes: 0)
        var idle = 0
        for number in 1...count {
            let interval = Duration.milliseconds(500)
            if watch.isIdle(after: interval, worked: worked * number, bytes: bytes * number) { idle += 1 }
        }
        return (idle, watch)
    }

    @Test func aServerIsSlowThatSendsNextToNothingForTwoSeconds() {
        #expect(!samples(3, bytes: 0).watch.isSlow)
        #expect(samples(4, bytes: 0).watch.isSlow && samples(4, bytes: 2_000).watch.isSlow)
        // One that sends is not, though the run is idle nearly all of the time.
        #expect(samples(40, bytes: 4_000).idle == 40 && !samples(40, bytes: 4_000).watch.isSlow)
        // A run that works does not wait, whatever has come meanwhile.
        #expect(samples(40, worked: .milliseconds(200), bytes: 0).idle == 0)
        #expect(!samples(40, worked: .milliseconds(200), bytes: 0).watch.isSlow)
        var watch = samples(40, bytes: 100_000).watch
        for _ in 0..<20 {
            #expect(!watch.isSlow)
            _ = watch.isIdle(after: .milliseconds(100), worked: .zero, bytes: 4_000_000)
        }
        #expect(watch.isSlow)
    }

    // MARK: - Who starts

    private func configuration(healthy: Int, hosts: Int, slow: Int) async throws -> TributaryConfiguration {
        try await withTemporaryFolder { folder in
            func source(_ name: String, _ host: String) -> String {
                "[sources.\(name)]\ncache = \"5s\"\n[[sources.\(name).requests]]\nurl = \"http://\(host).example/\(name)\"\n"
                    + "tables = [{ table = \"t\", element = \"e\", columns = { id = \"@id\" } }]\n"
            }
            let text =
                "[store]\npath = \"store.sqlite\"\n"
                + (0..<healthy).map { source("healthy\($0)", "h\($0 % hosts)") }.joined()
                + (0..<slow).map { source("slow\($0)", "s\($0)") }.joined()
            return try TributaryConfiguration(
                file: folder.write(text, to: "sources.toml"), parsers: ParserRegistry([]), environment: [:])
        }
    }

    /// Tenths of a second. A healthy run takes a tenth of one; a slow one lends its slot at the end of its first, and ends
    /// after thirty seconds.
    @Test func aThousandHealthySourcesAreOnTimeBesideFourHundredThatDrip() async throws {
        let start = Date(timeIntervalSince1970: 1_800_000_000)
        var schedule = Schedule(
            try await configuration(healthy: 1_000, hosts: 100, slow: 400), states: [:], now: start)
        let places = Admissions(concurrency: 8, perHost: 2, slow: 64)
        var dripping: [(name: String, permit: RunPermit, end: Int)] = []
        var due = (0..<1_000).reduce(into: [String: Date]()) { $0["healthy\($1)"] = start }
        var (first, later, runs, slowRuns) = (0.0, 0.0, 0, 0)
        for tick in 0..<1_200 {
            let now = start + Double(tick) / 10
            for index in dripping.indices where !dripping[index].permit.isSlow {
                dripping[index].permit.slots?.release()
                dripping[index].permit.slots = nil
            }
            while let index = dripping.firstIndex(where: { $0.end <= tick }) {
                let ended = dripping.remove(at: index)
                ended.permit.release()
                schedule.finished(ended.name, nextDue: now + 60, now: now, wasSlow: true, jitter: 0)
            }
            for _ in 0..<10 {
                for origin in places.takeFreed() { schedule.free(origin) }
                let starts = schedule.takeStarts(now: now, places)
                if starts.isEmpty { break }
                for run in starts {
                    guard let dueDate = due[run.source.name] else {
                        dripping.append((run.source.name, run.permit, tick + 300))
                        slowRuns += 1
                        continue
                    }
                    run.permit.release()
                    runs += 1
                    let late = now.timeIntervalSince(dueDate)
                    if dueDate == start { first = max(first, late) } else { later = max(later, late) }
                    due[run.source.name] = now + 5
                    schedule.finished(run.source.name, nextDue: now + 5, now: now, jitter: 0)
                }
            }
        }
        // Five seconds are what the slow ones need to become known, at eight slots and a tenth of a second for each.
        #expect(first <= 8, "\(first)")
        #expect(later <= 1, "\(later)")
        #expect(runs >= 19_000 && slowRuns >= 464, "\(runs) \(slowRuns)")
        #expect(dripping.count <= 400)
        for run in dripping { run.permit.release() }
    }

    @Test func sourcesOfWhichNothingIsKnownHaveEveryFourthStart() {
        var queue = StartQueue()
        for number in 0..<8 { queue.add("p\(number)", origin: "p\(number)", lane: .prompt, isSuspect: false) }
        for number in 0..<3 { queue.add("n\(number)", origin: "n\(number)", isSuspect: false) }
        queue.add("s", origin: "s", lane: .slow, isSuspect: false)
        var started: [String] = []
        while let start = queue.next({ _, lane in lane == .slow ? .noSlot : .admitted(RunPermit()) }) {
            started.append(start.name)
        }
        #expect(started == ["p0", "p1", "p2", "n0", "p3", "p4", "p5", "n1", "p6", "p7", "n2"])
        #expect(queue.waiting(at: "s") == 1 && queue.next { _, _ in .admitted(RunPermit()) }?.name == "s")
    }

    /// A host with a pace has one place at a time. Slow sources that are due again whenever it is free leave it to others.
    @Test(arguments: [StartQueue.Lane.prompt, .new]) func slowSourcesTakeTurnsWithOthersOfTheirHost(
        _ lane: StartQueue.Lane
    ) {
        var queue = StartQueue()
        func add(_ name: String, _ lane: StartQueue.Lane) {
            queue.add(name, origin: "h", lane: lane, isSuspect: false)
        }
        for name in ["slow0", "slow1"] { add(name, .slow) }
        for number in 0..<3 { add("other\(number)", lane) }
        var started: [String] = []
        for place in 0..<8 {
            queue.free("h")
            queue.add("elsewhere\(place)", origin: "e\(place)", lane: .prompt, isSuspect: false)
            var isFree = true
            while let start = queue.next({ origin, _ in
                guard origin == "h" else { return .admitted(RunPermit()) }
                defer { isFree = false }
                return isFree ? .admitted(RunPermit()) : .hostIsFull
            }) {
                guard !start.name.hasPrefix("elsewhere") else { continue }
                started.append(start.name)
                if start.name.hasPrefix("slow") { add(start.name, .slow) }
            }
        }
        #expect(started == ["slow0", "other0", "slow1", "other1", "slow0", "other2", "slow1", "slow0"])
    }

    @Test func aSlowSourceIsPromptAgainOnceItAnswers() async throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        var schedule = Schedule(try await configuration(healthy: 1, hosts: 1, slow: 0), states: [:], now: now)
        func lane(_ time: Date) -> StartQueue.Lane? {
            var found: StartQueue.Lane?
            _ = schedule.takeStarts(now: time) { _, lane in
                found = lane
                return .admitted(RunPermit())
            }
            return found
        }
        #expect(lane(now) == .new)
        schedule.finished("healthy0", nextDue: now + 5, now: now, wasSlow: true, jitter: 0)
        #expect(lane(now + 9) == .slow)
        schedule.finished("healthy0", nextDue: now + 15, now: now + 10, jitter: 0)
        #expect(lane(now + 19) == .prompt)
        // A daemon that starts begins with what the store knows.
        var state = SourceState(source: "healthy0", lastRun: now, nextDue: now)
        schedule = Schedule(
            try await configuration(healthy: 1, hosts: 1, slow: 0), states: ["healthy0": state], now: now)
        #expect(lane(now) == .prompt)
        state.failures = 1
        schedule = Schedule(
            try await configuration(healthy: 1, hosts: 1, slow: 0), states: ["healthy0": state], now: now)
        #expect(lane(now) == .new)
    }
}
