@testable import FeedConfiguration
import FeedFetching
import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing

@testable import TributaryEngine

/// A slot is for work, and not for waiting.
@Suite(.timeLimit(.minutes(3))) struct SlotTests {
    // MARK: - The limit

    @Test func ofCallersThatWaitTheOneThatBeganFirstComesFirst() {
        let slots = Slots(limit: 1, mostWaiting: 1)
        let order = Mutex<[Int]>([])
        let numbers = (0..<4).map { _ in slots.makeNumber() }
        #expect(slots.acquire() && slots.hasRoom())
        for number in [numbers[2], numbers[0], numbers[1]] {
            let isAcquired = slots.acquire(number) { order.withLock { $0.append(number) } }
            #expect(!isAcquired)
        }
        #expect(!slots.hasRoom() && order.withLock(\.self) == [])
        slots.release()
        // The slot has passed to another, so that a further caller is refused.
        #expect(order.withLock(\.self) == [numbers[0]] && !slots.acquire())
        slots.setLimit(3)
        #expect(order.withLock(\.self) == Array(numbers[..<3]) && slots.hasRoom())
        for _ in 0..<3 { slots.release() }
        let isAcquired = slots.acquire(numbers[3]) { Issue.record("a slot was free") }
        #expect(isAcquired)
    }

    @Test func refusedCallersHearOnceOfFreeSlots() {
        let slots = Slots(limit: 2)
        let count = Mutex(0)
        slots.onFree { count.withLock { $0 += 1 } }
        #expect(slots.acquire() && slots.acquire())
        slots.release()
        #expect(count.withLock(\.self) == 0)
        #expect(slots.acquire() && !slots.acquire() && !slots.acquire())
        slots.release()
        slots.release()
        #expect(count.withLock(\.self) == 1)
    }

    @Test func noRunBeginsWhileManyLoadsWait() {
        let slots = Slots(limit: 1, mostWaiting: 2)
        let count = Mutex(0)
        slots.onFree { count.withLock { $0 += 1 } }
        #expect(slots.acquire() && slots.hasRoom())
        for number in 0..<2 {
            #expect(slots.hasRoom())
            let isAcquired = slots.acquire(number) {}
            #expect(!isAcquired)
        }
        #expect(!slots.hasRoom() && count.withLock(\.self) == 0)
        slots.release()
        #expect(count.withLock(\.self) == 1 && slots.hasRoom())
    }

    // MARK: - The executor

    /// An actor that holds a slot while it works.
    private actor Worker {
        private let executor: LoadExecutor
        nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

        init(_ slots: Slots, _ clock: any RunClock = SystemClock()) {
            executor = LoadExecutor(label: "worker", slots: slots, SystemThreads(), clock)
        }

        var timeWaited: Duration { executor.timeWaited }

        func note(_ word: String, in words: Words) { words.add(word) }

        /// Waits for a signal.
        func wait(for signal: AsyncStream<Void>, begun: AsyncStream<Void>.Continuation) async {
            begun.yield()
            for await _ in signal { break }
        }

        func waitKeepingSlot(for signal: AsyncStream<Void>, begun: AsyncStream<Void>.Continuation) async {
            await executor.keepingSlot { await wait(for: signal, begun: begun) }
        }

        /// Works until another waits for the slot, and for a time after that.
        func work(
            for seconds: Double, _ clock: ManualClock, _ slots: Slots, begun: AsyncStream<Void>.Continuation,
            in words: Words
        ) {
            begun.yield()
            while slots.hasRoom() { usleep(1000) }
            clock.advance(by: seconds)
            words.add("first")
        }
    }

    private final class Words: Sendable {
        private let words = Mutex<[String]>([])

        var all: [String] { words.withLock(\.self) }

        func add(_ word: String) { words.withLock { $0.append(word) } }
    }

    /// Waits until a slot is free, and leaves it free.
    private func waitForSlot(_ slots: Slots) async throws {
        while !slots.acquire() { try await Task.sleep(for: .milliseconds(1)) }
        slots.release()
    }

    private func next(_ stream: AsyncStream<Void>) async { for await _ in stream { break } }

    @Test func anActorThatWaitsHoldsNoSlot() async throws {
        let slots = Slots(limit: 1)
        let (signal, open) = AsyncStream<Void>.makeStream()
        let (begins, begun) = AsyncStream<Void>.makeStream()
        let waiting = Task { await Worker(slots).wait(for: signal, begun: begun) }
        await next(begins)
        try await waitForSlot(slots)
        // Another works meanwhile.
        let words = Words()
        await Worker(slots).note("other", in: words)
        open.yield()
        await waiting.value
        try await waitForSlot(slots)
        #expect(words.all == ["other"])
    }

    @Test func aSlotIsKeptForWorkOfAnotherThread() async throws {
        let slots = Slots(limit: 1, mostWaiting: 1)
        let (signal, open) = AsyncStream<Void>.makeStream()
        let (begins, begun) = AsyncStream<Void>.makeStream()
        let committing = Task { await Worker(slots).waitKeepingSlot(for: signal, begun: begun) }
        await next(begins)
        let words = Words()
        let other = Task { await Worker(slots).note("other", in: words) }
        while slots.hasRoom() { try await Task.sleep(for: .milliseconds(1)) }
        #expect(words.all == [])
        open.yield()
        await committing.value
        await other.value
        try await waitForSlot(slots)
    }

    @Test func anActorWaitsForAnotherThatWorks() async throws {
        let (slots, clock, words) = (Slots(limit: 1, mostWaiting: 1), ManualClock(), Words())
        let (begins, begun) = AsyncStream<Void>.makeStream()
        let working = Task {
            await Worker(slots, clock).work(for: 0.5, clock, slots, begun: begun, in: words)
        }
        await next(begins)
        let other = Worker(slots, clock)
        await other.note("other", in: words)
        await working.value
        #expect(words.all == ["first", "other"])
        // What the other has waited does not count as time of its exchange.
        #expect(await other.timeWaited == .seconds(0.5))
        try await waitForSlot(slots)
    }

    @Test func theWaitForASlotIsNoTimeOfTheExchange() {
        let clock = ManualClock()
        let waited = Mutex(Duration.seconds(5))
        let exchange = ExchangeClock(uptime: { clock.uptime }, waited: { waited.withLock(\.self) })
        clock.advance(by: 10)
        waited.withLock { $0 += .seconds(9) }
        #expect(exchange.spent == .seconds(1))
        exchange.pause()
        clock.advance(by: 50)
        exchange.resume { .seconds(3) }
        clock.advance(by: 2)
        #expect(exchange.spent == .seconds(3))
    }

    @Test func aRequestTakesTimeWhileOneOfItsExchangesDoes() {
        let clock = ManualClock()
        let whole = ExchangeClock(uptime: { clock.uptime })
        whole.resume()
        let part = ExchangeClock(uptime: { clock.uptime }, partOf: whole)
        part.pause()
        clock.advance(by: 1)
        #expect(whole.spent == .seconds(1) && part.spent == .zero)
        whole.pause()
        clock.advance(by: 2)
        #expect(whole.spent == .seconds(1))
        part.resume()
        clock.advance(by: 4)
        #expect(whole.spent == .seconds(5) && part.spent == .seconds(4))
    }

    // MARK: - Who starts

    @Test func hostsTakeTurns() {
        var queue = StartQueue()
        for number in 0..<3 { queue.add("a\(number)", origin: "a", isSuspect: false) }
        for number in 0..<2 { queue.add("b\(number)", origin: "b", isSuspect: false) }
        queue.add("c", origin: nil, isSuspect: false)
        var started: [String] = []
        while let start = queue.next(at: Date(), { _ in .admitted(RunPermit()) }) { started.append(start.name) }
        #expect(started == ["a0", "b0", "c", "a1", "b1", "a2"])
        #expect(queue.isEmpty && queue.waiting(at: "a") == 0)
    }

    @Test func aFullHostAndAFullDaemonAreToldApart() {
        var queue = StartQueue()
        for name in ["a", "b"] { queue.add(name, origin: Origin(stringLiteral: name), isSuspect: false) }
        #expect(queue.next(at: Date()) { $0 == "a" ? .hostIsFull : .noPlace } == nil)
        // The host that is full is looked at again when it has a permit, and the other at once.
        #expect(queue.next(at: Date()) { _ in .admitted(RunPermit()) }?.name == "b")
        #expect(queue.next(at: Date()) { _ in .admitted(RunPermit()) } == nil && queue.waiting(at: "a") == 1)
        queue.free("a")
        #expect(queue.next(at: Date()) { _ in .admitted(RunPermit()) }?.name == "a")
    }

    /// One of the sources that ran when a process died may hang. It does not hold up the others for its timeout.
    @Test func suspectsBeginOneAfterAnother() {
        var queue = StartQueue()
        for number in 0..<12 { queue.add("s\(number)", origin: "a", isSuspect: true) }
        queue.add("t", origin: "b", isSuspect: true)
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        func next(_ seconds: Double) -> String? { queue.next(at: now + seconds) { _ in .admitted(RunPermit()) }?.name }
        #expect(next(0) == "s0" && next(1) == nil && queue.nextSuspect == now + StartQueue.secondsAlone)
        #expect(next(2) == "s1" && next(3) == nil)
        queue.finished("s0")
        queue.finished("s1")
        #expect(next(3) == "s2")
        for number in 3..<10 { #expect(next(Double(2 * number)) == "s\(number)") }
        // As many as may be in progress.
        #expect(next(100) == nil && queue.nextSuspect == nil)
        queue.finished("s2")
        // The host of the others is full, which nobody waits for by the clock.
        #expect(queue.next(at: now + 100) { _ in .hostIsFull } == nil && queue.nextSuspect == nil)
        #expect(queue.next(at: now + 100) { $0 == "a" ? .hostIsFull : .admitted(RunPermit()) }?.name == "t")
    }

    /// A burst of sources whose servers do not answer begins at a hundred a second.
    @Test func aBurstBeginsBitByBit() async throws {
        let now = Date(timeIntervalSince1970: 1_800_000_000)
        let text =
            "[store]\npath = \"s.sqlite\"\n"
            + (0..<250).map { number in
                "[[sources.s\(number).requests]]\nurl = \"http://h\(number).example/\"\nparser = \"ItemsParser\"\n"
            }.joined()
        let configuration = try await withTemporaryFolder { folder in
            try TributaryConfiguration(
                file: folder.write(text, to: "s.toml"), parsers: EngineFixture.registry, environment: [:])
        }
        var schedule = Schedule(configuration, states: [:], now: now)
        let first = schedule.takeStarts(now: now)
        #expect(first.count == Schedule.mostRecent && schedule.nextWake == now + 1)
        #expect(schedule.takeStarts(now: now + 0.5).isEmpty)
        // Where a server answers, another is asked.
        for start in first.prefix(5) { schedule.finished(start.source.name, nextDue: now + 900, now: now + 0.5) }
        // Also while the runs still wait for their records.
        let opens = first[5..<10].map { schedule.answered($0.source.name) }
        #expect(opens == [false, false, false, false, false])
        #expect(schedule.takeStarts(now: now + 0.5).count == 10)
        let opensAgain = schedule.answered(first[10].source.name)
        #expect(opensAgain && schedule.takeStarts(now: now + 0.5).count == 1)
        // The others begin to hang.
        #expect(schedule.takeStarts(now: now + 1).count == 89)
        #expect(schedule.nextWake == now + 1.5)
        #expect(schedule.takeStarts(now: now + 1.5).count == 11)
        #expect(schedule.takeStarts(now: now + 2).count == 39)
    }
}
