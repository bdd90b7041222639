package import FeedModel
package import FeedStores
package import Foundation

/// A run that brings a source's rows back to what they were after one of its runs, or shows what that would change.
package struct UndoRun: Sendable {
    /// The point to which the rows are brought back.
    package enum Target: Sendable, Equatable {
        /// Before the last run whose rows are there.
        case lastChange
        case run(Int64)
        case time(Date)
    }

    private let source: String
    private let target: Target
    private let store: any MainStore

    package init(_ source: String, to target: Target, in store: any MainStore) {
        self.source = source
        self.target = target
        self.store = store
    }

    /// Waits for a run of the source that is under way, and brings the rows back.
    ///
    /// - Parameter history: the time for which runs are remembered, in seconds.
    /// - Returns: the report as it was recorded.
    /// - Throws: ``StoreError`` saying why the rows cannot be brought back; nothing has changed then. `CancellationError`.
    package func run(history: Double) async throws -> RunReport {
        let claim = try await claim()
        defer { claim.unlock() }
        return try await store.undo(undo(history: history, began: .now)) { [start = ContinuousClock.now] in
            (ContinuousClock.now - start).seconds
        }
    }

    /// Reports what would change, and changes nothing.
    package func plan(onChange: @escaping (PlannedChange) throws -> Void) async throws -> MergeCounts {
        let claim = try await claim()
        defer { claim.unlock() }
        return try store.planUndo(undo(history: 0, began: .now), onChange: onChange)
    }

    private func claim() async throws -> any SourceClaim {
        while true {
            if let claim = try store.claim(source) { return claim }
            // Nobody tells that a lock or a lease was given up, so it is tried again.
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func undo(history: Double, began: Date) throws -> Undo {
        let run = try number()
        let (state, requests) = try store.states(of: source)
        var new = state
        let feed = UndoneFeed(run: run, state.undone.flatMap(UndoneFeed.init).map { $0.restored(requests) } ?? requests)
        new.undone = try feed.text
        new.note = feed.note(source)
        new.error = nil
        new.failures = 0
        new.failingSince = nil
        new.attempts = 0
        new.outcome = .committed
        new.lastCommit = began
        var report = RunReport(source: source, outcome: .committed, startedAt: began, nextDue: state.nextDue)
        report.kind = .undo
        report.restoredRun = run
        var commit = Commit(
            report: report, requests: [], state: new,
            forgetBefore: history > 0 ? began - history : .distantPast)
        commit.keepsHistory = true
        return Undo(commit, to: run)
    }

    private func number() throws -> Int64 {
        switch target {
        case .run(let number): return number
        case .time(let time): return try store.lastRun(at: time)
        case .lastChange:
            let runs = try store.commits(of: source, after: 0).filter { $0.changedRows || $0.restoredRun != nil }
            // What an undo has brought back was made by a run before it.
            var limit = Int64.max
            while let last = runs.last(where: { $0.number <= limit }) {
                guard let restored = last.restoredRun else { return last.number - 1 }
                limit = restored
            }
            throw StoreError(.history, "no run of source '\(source)' is remembered that has changed rows")
        }
    }
}

extension UndoneFeed {
    /// The requests' states with the versions that were known when the source was undone before.
    fileprivate func restored(_ states: [String: RequestState]) -> [String: RequestState] {
        versions.reduce(into: states) { states, version in
            states[version.key] = state(of: version.key, states[version.key], fingerprint: "")
        }
    }
}
