import Testing
@testable import TributaryEngine

struct TimersTests {
    @Test func sleepersWakeInTheOrderOfTheirTimes() async throws {
        let now = ContinuousClock.now
        let woken = try await withThrowingTaskGroup(of: Int.self, returning: [Int].self) { group in
            for number in [3, 1, 2] {
                group.addTask {
                    try await EngineLoop.sleep(until: now + .milliseconds(100 * number))
                    return number
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(woken == [1, 2, 3])
        #expect(ContinuousClock.now - now >= .milliseconds(300))
    }

    @Test func aTimeThatIsOverWakesAtOnce() async throws {
        try await EngineLoop.sleep(until: .now - .seconds(1))
    }

    @Test func aCancelledSleepEndsAtOnce() async throws {
        let tasks = (0..<200).map { _ in Task { try await EngineLoop.sleep(until: .now + .seconds(3600)) } }
        let late = Task { try await EngineLoop.sleep(until: .now + .milliseconds(50)) }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        // Those that were cancelled keep nobody from waking.
        try await late.value
    }

    @Test func aTaskThatIsCancelledAlreadyDoesNotSleep() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await EngineLoop.sleep(until: .now + .seconds(3600))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
