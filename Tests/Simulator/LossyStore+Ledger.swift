import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// What may be lost on the way.
extension LossyStore {
    func read<Value>(_ body: (Ledger) throws -> Value) throws -> Value { try reading("read") { try $0.read(body) } }
    func write<Value>(_ body: (Ledger) throws -> Value) throws -> Value { try writing("write") { try $0.write(body) } }
    func writeInGroup(_ body: @escaping @Sendable (Ledger) throws -> Void) async throws {
        try await writing("writeInGroup") { try await $0.writeInGroup(body) }
    }
    func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState]) {
        try reading("states") { try $0.states(of: source) }
    }
    func forgetRuns(before date: Date, keeping histories: [String: Date]) throws -> Bool {
        try writing("forgetRuns") { try $0.forgetRuns(before: date, keeping: histories) }
    }
    func makeWorkerContext(source: String) -> WorkerContext { store.makeWorkerContext(source: source) }
    func removeAbandonedScratch() throws { try store.removeAbandonedScratch() }
    func record(_ commit: Commit) async throws {
        lines.note(commit.report.source, isRecorded: false)
        try await writing("commit") {
            try await $0.record(commit)
            lines.note(commit.report.source, isRecorded: true)
            note(commit.report)
        }
    }
    func commit(
        _ commit: Commit, merging stack: StagedStack, stop: Stop, seconds: @escaping @Sendable () -> Double
    ) async throws -> RunReport {
        lines.note(commit.report.source, isRecorded: false)
        return try await writing("commit") {
            let report = try await $0.commit(commit, merging: stack, stop: stop, seconds: seconds)
            lines.note(commit.report.source, isRecorded: true)
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
            if !isTrial {
                lines.notePurge(of: purge.source)
                note(report.run)
            }
            return report
        }
    }
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
