import FeedModel
import TestSupport
import Testing

@testable import TributaryEngine

struct RecordWindowTests {
    @Test(.timeLimit(.minutes(1))) func recordsWaitForOneEndOfTheirWindow() async {
        let clock = ManualClock()
        let window = RecordWindow(clock)
        let ended = Mutex(0)
        let wait: @Sendable () async -> Void = {
            await window.end()
            ended.withLock { $0 += 1 }
        }
        await withTaskGroup { group in
            group.addTask { await wait() }
            while clock.wakes.isEmpty { await Task.yield() }
            for _ in 1...3 { group.addTask { await wait() } }
            while window.count < 3 { await Task.yield() }
            #expect(ended.withLock(\.self) == 0)
            clock.advance(by: 1)
        }
        #expect(ended.withLock(\.self) == 4)

        // The next record opens a window of its own.
        let next = Task { await wait() }
        while clock.wakes.isEmpty { await Task.yield() }
        #expect(window.count == 0)
        next.cancel()
        await next.value
    }

    @Test(.timeLimit(.minutes(1))) func manyRecordsDoNotWaitForTheEndOfTheirWindow() async {
        let clock = ManualClock()
        let window = RecordWindow(clock)
        let first = Task { await window.end() }
        while clock.wakes.isEmpty { await Task.yield() }
        await withTaskGroup { group in
            for _ in 0..<RecordWindow.mostRecords { group.addTask { await window.end() } }
        }
        #expect(window.count == 0 && !clock.wakes.isEmpty)
        first.cancel()
        await first.value
    }
}
