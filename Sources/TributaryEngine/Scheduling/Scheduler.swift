import AsyncAlgorithms
import FeedStore
import Foundation
import Logging

/// Starts each source when it is due, at most `concurrency` of them at a time, never one twice.
///
/// One loop over one stream: due times, refresh requests, reloads and the ends of runs, merged. All its state is the
/// loop's own. `run()` returns when it is cancelled, after every run has ended.
final class Scheduler: Sendable {
    private let timer: DueTimer
    private let requests: AsyncStream<SchedulerEvent>
    private let continuation: AsyncStream<SchedulerEvent>.Continuation
    private let questions = Questions()
    private let environment: RunEnvironment
    private let onReport: @Sendable (RunReport) -> Void

    init(environment: RunEnvironment, onReport: @escaping @Sendable (RunReport) -> Void) {
        self.environment = environment
        self.onReport = onReport
        timer = DueTimer(clock: environment.clock)
        (requests, continuation) = AsyncStream.makeStream()
    }

    /// Refreshes sources now, or all of them, whatever their cache intervals. One that is running is refreshed once more
    /// when it has ended.
    func refresh(_ sources: [String]?) { continuation.yield(.refresh(sources)) }

    /// Puts a new configuration in force. Sources that are declared as before are not disturbed.
    func reload(_ configuration: TributaryConfiguration) { continuation.yield(.reload(configuration)) }

    /// Returns when the loop has come round; at once when it has ended.
    func answer() async {
        await questions.ask { continuation.yield(.question) }
    }

    func run() async throws {
        defer { questions.end() }
        var plan = SchedulerPlan(
            environment.configuration, states: try environment.store.sourceStates(), now: environment.clock.now())
        var environment = self.environment
        await withTaskGroup(of: Void.self) { group in
            timer.set(plan.nextWake)
            for await event in merge(requests, timer.ticks) {
                if Task.isCancelled { break }
                let now = environment.clock.now()
                switch event {
                case .due:
                    break
                case .question:
                    questions.answer()
                case .refresh(let sources):
                    plan.refresh(sources)
                case .reload(let configuration):
                    environment.configuration = configuration
                    plan.reload(configuration, now: now)
                case .finished(let report):
                    plan.finished(report.source, nextDue: report.nextDue, now: now)
                }
                for start in plan.takeStarts(now: now) {
                    let run = StackRun(start.source, in: environment, mode: start.mode)
                    group.addTask { [continuation, onReport] in
                        let report = await run.run()
                        // Whoever hears of a run may rely on the loop's hearing of it before what they say next.
                        continuation.yield(.finished(report))
                        onReport(report)
                    }
                }
                timer.set(plan.nextWake)
            }
            timer.set(nil)
            environment.store.stopWaiting()
            group.cancelAll()
            await group.waitForAll()
        }
    }
}
