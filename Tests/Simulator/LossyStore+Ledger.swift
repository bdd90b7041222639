import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// What may be lost on the way.
extension LossyStore {
    func sourceStates() throws -> [String: SourceState] { try reading("sourceStates") { try $0.sourceStates() } }
    func sourceState(_ source: String) throws -> SourceState {
        try reading("sourceState") { try $0.sourceState(source) }
    }
    func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        try reading("states") { try $0.states(of: source) }
    }
    func forgetRuns(before date: Date) throws -> Bool { try writing("forgetRuns") { try $0.forgetRuns(before: date) } }
    func runs(of source: String?, failed: Bool, limit: Int) throws -> [RunReport] {
        try reading("runs") { try $0.runs(of: source, failed: failed, limit: limit) }
    }
    func recordedRun(_ number: Int64) throws -> RunReport? { try store.recordedRun(number) }
    func figures(of source: String, from start: Date, spansOf seconds: Double) throws -> [RunFigures] {
        try store.figures(of: source, from: start, spansOf: seconds)
    }
    func recentRuns(
        of sources: [(name: String, lastCommit: Date?)], limit: Int, changedSince start: Date
    ) throws -> [String: RecentRuns] {
        try store.recentRuns(of: sources, limit: limit, changedSince: start)
    }
    func neighbours(of run: Int64, of source: String) throws -> (previous: Int64?, next: Int64?) {
        try store.neighbours(of: run, of: source)
    }
    func following(_ run: Int64, of source: String) throws -> (refresh: RunReport?, change: Int64?) {
        try store.following(run, of: source)
    }
    func firstRun(of source: String) throws -> Date? { try store.firstRun(of: source) }
    func noteAttempt(_ source: String, number: Int, wait: Double?, declared: String, now: Date) async throws {
        try await writing("noteAttempt") {
            try await $0.noteAttempt(source, number: number, wait: wait, declared: declared, now: now)
        }
    }
    func notePause(_ source: String, error: String, note: String, now: Date) async throws {
        try await writing("notePause") { try await $0.notePause(source, error: error, note: note, now: now) }
    }
    func pause(_ sources: [String], now: Date) throws -> [String] {
        try writing("pause") { try $0.pause(sources, now: now) }
    }
    func resume(_ sources: [String]) throws -> [String] { try writing("resume") { try $0.resume(sources) } }
    func makeDue(_ sources: [String], now: Date) throws {
        try writing("makeDue") { try $0.makeDue(sources, now: now) }
    }
    func blockedRun(of source: String) throws -> RunReport? {
        try reading("blockedRun") { try $0.blockedRun(of: source) }
    }
    func accept(_ acceptances: [Acceptance]) throws { try writing("accept") { try $0.accept(acceptances) } }
    func acceptance(of source: String, at now: Date) throws -> Acceptance? {
        try reading("acceptance") { try $0.acceptance(of: source, at: now) }
    }
    func acceptances(at now: Date) throws -> [String: Acceptance] {
        try reading("acceptances") { try $0.acceptances(at: now) }
    }
    func cutWaits(of sources: [String]?, to now: Date) throws {
        try writing("cutWaits") { try $0.cutWaits(of: sources, to: now) }
    }
    func cutWaits(to now: Date, setBackFrom former: Date) async throws {
        try await writing("cutWaits") { try await $0.cutWaits(to: now, setBackFrom: former) }
    }
    func forgetGone(_ sources: [String]) throws { try writing("forgetGone") { try $0.forgetGone(sources) } }
    func busyHosts() throws -> [String: Date] { try reading("busyHosts") { try $0.busyHosts() } }
    func makeWorkerContext(source: String) -> WorkerContext { store.makeWorkerContext(source: source) }
    func removeAbandonedScratch() throws { try store.removeAbandonedScratch() }
    func commit(
        _ commit: Commit, merging stack: StagedStack?, interruption: Interruption,
        seconds: @escaping @Sendable () -> Double
    ) async throws -> RunReport {
        lines.note(isRecorded: false)
        return try await writing("commit") {
            let report = try await $0.commit(commit, merging: stack, interruption: interruption, seconds: seconds)
            lines.note(isRecorded: true)
            note(report)
            return report
        }
    }
    func plan(
        _ stack: StagedStack, mirrors: [MirroredRows], checkMirrors: @escaping Commit.MirrorCheck,
        limits: [ScopedRows: ChangeLimits], retention: Retention, source: String,
        onChange: @escaping (PlannedChange) throws -> Void
    ) throws -> MergeCounts {
        try store.plan(
            stack, mirrors: mirrors, checkMirrors: checkMirrors, limits: limits, retention: retention, source: source,
            onChange: onChange)
    }
    func load(_ stack: StagedStack) throws { try store.load(stack) }
    func purge(_ purge: Purge, isTrial: Bool) throws -> PurgeReport {
        try writing("purge") {
            let report = try $0.purge(purge, isTrial: isTrial)
            if !isTrial { note(report.run) }
            return report
        }
    }
}

/// What hooks read and write.
extension LossyStore {
    func runs(after position: RunPosition, limit: Int, changing: Bool) throws -> [ChangelogRun] {
        try reading("runs") { try $0.runs(after: position, limit: limit, changing: changing) }
    }
    func lastPosition() throws -> RunPosition { try reading("lastPosition") { try $0.lastPosition() } }
    func run(_ id: Int64) throws -> ChangelogRun? { try reading("run") { try $0.run(id) } }
    func isHeldUp(after position: RunPosition) throws -> Bool {
        try reading("isHeldUp") { try $0.isHeldUp(after: position) }
    }
    func changes(of run: ChangelogRun, after id: Int64, limit: Int) throws -> [ChangelogEntry] {
        try reading("changes") { try $0.changes(of: run, after: id, limit: limit) }
    }
    func changelogBounds() throws -> ClosedRange<Int64>? { try reading("changelogBounds") { try $0.changelogBounds() } }
    func run(ofChange id: Int64) throws -> Int64? { try reading("run") { try $0.run(ofChange: id) } }
    func failingSources() throws -> [FailingSource] { try reading("failingSources") { try $0.failingSources() } }
    func hookStates() throws -> [String: HookState] { try reading("hookStates") { try $0.hookStates() } }
    func hookState(_ name: String) throws -> HookState? { try reading("hookState") { try $0.hookState(name) } }
    func declareHooks(_ names: Set<String>) throws -> [String] {
        try writing("declareHooks") { try $0.declareHooks(names) }
    }
    func hookMemories(_ name: String) throws -> [String: HookMemory] {
        try reading("hookMemories") { try $0.hookMemories(name) }
    }
    func retryHook(_ name: String) throws -> Bool { try writing("retryHook") { try $0.retryHook(name) } }
    func advanceHook(_ name: String, _ progress: HookProgress) throws {
        try writing("advanceHook") { try $0.advanceHook(name, progress) }
    }
    func noteFailure(ofHook name: String, _ failure: HookFailure) throws {
        try writing("noteFailure") { try $0.noteFailure(ofHook: name, failure) }
    }
    func commits(of source: String, after run: Int64) throws -> [CommittedRun] {
        try reading("commits") { try $0.commits(of: source, after: run) }
    }
    func hasHistory(run: Int64) throws -> Bool { try store.hasHistory(run: run) }
    func lastRunWithHistory(of source: String?) throws -> Int64? { try store.lastRunWithHistory(of: source) }
    func lastRun(at time: Date) throws -> Int64 { try store.lastRun(at: time) }
    func undo(_ undo: Undo, seconds: @escaping @Sendable () -> Double) async throws -> RunReport {
        try await writing("undo") {
            let report = try await $0.undo(undo, seconds: seconds)
            note(report)
            return report
        }
    }
    func planUndo(_ undo: Undo, onChange: @escaping (PlannedChange) throws -> Void) throws -> MergeCounts {
        try store.planUndo(undo, onChange: onChange)
    }
    func changes(_ query: ChangeQuery, _ body: (RowChange) throws -> Void) throws {
        try reading("changes") { try $0.changes(query, body) }
    }
    func withImages(_ changes: [ChangelogEntry], of run: Int64, keys: [String: [String]]) throws -> [ChangelogEntry] {
        try reading("withImages") { try $0.withImages(changes, of: run, keys: keys) }
    }
}
