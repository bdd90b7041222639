import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import Logging
import TributaryEngine
import TributaryStores

/// Shows what a run of a source would change: what `plan` and `replay --plan` have in common.
struct PlanRun {
    let configuration: TributaryConfiguration
    let source: SourceDeclaration
    /// The changes to show of a table and kind; 0 for all.
    let limit: Int
    let json: Bool
    /// The command that shows all changes; nil where the command itself has --limit.
    var whole: String?
    /// True to end with what to type next.
    var showsNext = false

    /// - Parameter plan: makes the plan, and calls what it is given with each change.
    /// - Returns: true where there is a difference, or a run would be blocked.
    func run(
        _ program: Program,
        _ plan: (SyncService, @escaping @Sendable (PlannedChange) throws -> Void) async throws -> StackPlan
    ) async throws -> Bool {
        let more = whole.map { "`\($0) --limit 0` shows all" } ?? "--limit 0 shows all"
        let report = Mutex(PlanReport(limit: limit, more: more))
        let made: StackPlan
        do {
            made = try await PrivateFolder.with("plan") { folder in
                let (store, configuration, logins) = try configuration.openForPlan(
                    of: source, parsers: program.parsers, folder: folder,
                    registerMigrations: program.registerMigrations)
                defer {
                    try? store.close()
                    try? logins?.close()
                }
                let service = try program.service(configuration, store: store, logins: logins, logger: .console())
                return try await plan(service) { change in report.withLock { $0.add(change) } }
            }
        } catch let error as StoreError where error.code != .constraint && error.code != .limit {
            throw error
        } catch let error where error is Failure || error is ConfigurationError {
            throw error
        } catch {
            throw Failure.failed(
                "\(source.name): the run will be discarded: \(configuration.redactor.redact("\(error)"))")
        }
        let finished = report.withLock { $0 }
        if json {
            try Terminal.printJSON(JSONObject(planOf: source.name, made.counts, finished, stack: made))
        } else {
            for line in finished.lines(made, on: Terminal()) { try Terminal.print(line) }
            if showsNext, let next = try next(made) { try Terminal.printWrapped(next) }
        }
        return made.differs || made.blocked != nil
    }

    /// Returns what commits the changes; nil where there are none.
    private func next(_ plan: StackPlan) throws -> String? {
        let name = source.name
        guard plan.differs || plan.blocked != nil else { return nil }
        let state = try configuration.reading { try $0.sources.all() }?[name] ?? SourceState(source: name)
        if state.isPaused {
            let result = plan.blocked == nil ? "commits this" : "is blocked, and `tributary accept \(name)` accepts it"
            return "Next: `tributary resume \(name)` ends the pause; a run then \(result)."
        }
        if plan.blocked != nil {
            let blocks = "`tributary sync \(name) --force` keeps this as a blocked run"
            guard state.isBlocked else { return "Next: \(blocks), which `tributary accept \(name)` accepts." }
            let runs = try configuration.reading { try $0.runs.last(of: name, failed: true, limit: 100) } ?? []
            let run = runs.first { $0.outcome == .blocked }?.number.map { "run \($0)" } ?? "the blocked run"
            return
                "Next: \(blocks) in place of \(run), whose documents may be others; `tributary accept \(name) --dry-run` shows "
                + "the changes of \(run)."
        }
        let isDue = state.nextDue.map { $0 <= Date() } ?? true
        return "Next: `tributary sync \(name)\(isDue ? "" : " --force")` commits this."
    }
}
