import AsyncAlgorithms
import FeedStore
import Foundation
import Logging
import Synchronization

/// Starts each source when it is due, at most `concurrency` of them at a time, never one twice.
///
/// One loop over one stream: due times, refresh requests, reloads and the ends of runs, merged. All its state is the
/// loop's own. `run()` returns when it is cancelled, after every run has ended.
final class Scheduler: Sendable {
    private let timer: DueTimer
    private let requests: AsyncStream<SchedulerEvent>
    private let continuation: AsyncStream<SchedulerEvent>.Continuation
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
        await withCheckedContinuation { answer in
            if case .enqueued = continuation.yield(.question(answer)) { return }
            answer.resume()
        }
    }

    func run() async throws {
        var plan = SchedulerPlan(environment.configuration, states: try environment.store.sourceStates(), now: environment.clock.now())
        var environment = self.environment
        await withTaskGroup(of: Void.self) { group in
            timer.set(plan.nextWake)
            for await event in merge(requests, timer.ticks) {
                if Task.isCancelled { break }
                let now = environment.clock.now()
                switch event {
                case .due:
                    break
                case .question(let answer):
                    answer.resume()
                case .refresh(let sources):
                    plan.refresh(sources)
                case .reload(let configuration):
                    environment.configuration = configuration
                    plan.reload(configuration, now: now)
                case .finished(let report):
                    plan.finished(report.source, nextDue: report.nextDue, now: now)
                    onReport(report)
                }
                for start in plan.takeStarts(now: now) {
                    let run = StackRun(start.source, in: environment, mode: start.mode)
                    group.addTask { [continuation] in continuation.yield(.finished(await run.run())) }
                }
                timer.set(plan.nextWake)
            }
            timer.set(nil)
            group.cancelAll()
            await group.waitForAll()
        }
        // Runs that ended after the loop did.
        continuation.finish()
        for await event in requests {
            switch event {
            case .finished(let report): onReport(report)
            case .question(let answer): answer.resume()
            default: break
            }
        }
    }
}
