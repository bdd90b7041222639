package import FeedConfiguration
package import FeedModel
package import FeedParsing
package import FeedStores
package import Foundation

/// A run that restores a source's rows as they were after one of its runs, or plans that.
package struct UndoRun: Sendable {
    /// The run whose rows are restored.
    package enum Target: Sendable, Equatable {
        /// The run before the last one with changes.
        case lastChange
        case run(Int64)
        case time(Date)
    }

    private let source: String
    private let target: Target
    private let store: any MainStore
    private let declaration: SourceDeclaration?
    private let keys: DeclaredKeys
    private let clock: any RunClock
    private let threads: any WorkThreads

    /// - Parameters:
    ///   - declaration: has the keys of the rows, and the columns of soft deletion; nil for an undeclared source.
    ///   - keys: the keys of all sources; nil for those of the declaration.
    package init(
        _ source: String, to target: Target, in store: any MainStore, declaration: SourceDeclaration? = nil,
        parsers: ParserRegistry = ParserRegistry([]), keys: DeclaredKeys? = nil,
        clock: any RunClock = SystemClock(),
        threads: any WorkThreads = SystemThreads()
    ) {
        self.source = source
        self.target = target
        self.store = store
        self.declaration = declaration
        self.keys = keys ?? DeclaredKeys(declaration.map { [$0] } ?? [], parsers: parsers)
        self.clock = clock
        self.threads = threads
    }

    /// Returns the number of the source's last commit; 0 without one.
    package func lastCommit() async throws -> Int64 {
        try await threads.run { try store.read { try $0.runs.commits(of: source, after: 0) }.last?.number ?? 0 }
    }

    /// Waits for a run of the source in progress, and restores the rows.
    ///
    /// - Parameters:
    ///   - shown: the last commit before the review; nil without a review.
    ///   - changes: the digest of the reviewed changes.
    /// - Returns: the recorded report.
    /// - Throws: ``StoreError`` if the rows cannot be restored; nothing has changed then. `CancellationError`.
    package func run(shown: Int64? = nil, changes: ChangeDigest? = nil) async throws -> RunReport {
        let claim = try await claim()
        let start = clock.uptime
        let result: Result<RunReport, any Error>
        do {
            let undo = try await threads.run {
                if let shown, let other = try store.read({ try $0.runs.commits(of: source, after: shown) }).last {
                    throw StoreError(
                        .history, "run \(other.number) was committed since the changes were shown; nothing was undone")
                }
                var undo = try self.undo(began: clock.now())
                undo.shown = changes
                return undo
            }
            result = .success(try await store.undo(undo) { [clock] in (clock.uptime - start).seconds })
        } catch {
            result = .failure(error)
        }
        try await threads.run { claim.unlock() }
        return try result.get()
    }

    /// Reports the changes without making them.
    package func plan(onChange: @escaping @Sendable (PlannedChange) throws -> Void) async throws -> MergeCounts {
        let claim = try await claim()
        return try await threads.run {
            defer { claim.unlock() }
            return try store.planUndo(undo(began: clock.now()), onChange: onChange)
        }
    }

    private func claim() async throws -> any SourceClaim {
        while true {
            if let claim = try await threads.run({ try store.claim(source) }) { return claim }
            // Released locks and leases are not notified, so the attempt is repeated.
            try await clock.sleep(for: .milliseconds(200))
        }
    }

    private func undo(began: Date) throws -> Undo {
        let number = try number()
        let commits = try store.read { try $0.runs.commits(of: source, after: 0) }.map(\.number)
        // Numbers are those of all sources. Where the source has no run before, its rows are those before its first.
        let own = commits.last { $0 <= number }
        let run = if case .run = target { number } else { own ?? number }
        let (state, requests) = try store.states(of: source)
        var new = state
        var feed = UndoneFeed(run: run, state.undone.flatMap(UndoneFeed.init).map { $0.restored(requests) } ?? requests)
        feed.firstUndone = own == nil ? commits.first : nil
        new.undone = try feed.text
        new.note = declaration.map(feed.covers) == false ? feed.strictNote(source) : feed.note(source)
        new.error = nil
        new.failures = 0
        new.failingSince = nil
        new.isBlocked = false
        new.attempts = 0
        new.outcome = .committed
        new.lastCommit = began
        var report = RunReport(source: source, outcome: .committed, startedAt: began, nextDue: state.nextDue)
        report.kind = .undo
        report.restoredRun = run
        report.note = "back to \(feed.point)"
        var commit = Commit(report: report, requests: [], state: new)
        commit.keepsHistory = true
        commit.acceptance = .endsForBlockedRun
        commit.keys = keys
        if let declaration {
            commit.retention = declaration.retention(at: began) { requests[$0.key]?.tables ?? [] }
        }
        return Undo(commit, to: run)
    }

    private func number() throws -> Int64 {
        switch target {
        case .run(let number):
            let isRecorded = try store.read { try $0.runs.run(number) } != nil
            // The record of an older run may have been deleted.
            guard
                try isRecorded || number <= store.read({ try $0.runs.commits(of: source, after: 0) }).last?.number ?? 0
            else {
                throw StoreError(
                    .history,
                    "there is no run \(number) of source '\(source)'; `tributary history \(source)` lists its runs")
            }
            return number
        case .time(let time): return try store.read { try $0.runs.last(endedBy: time) }
        case .lastChange:
            let runs = try store.read { try $0.runs.commits(of: source, after: 0) }.filter {
                $0.changedRows || $0.restoredRun != nil
            }
            // Rows that an undo restored were made by an earlier run.
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
    /// Returns the requests' states with the versions of an earlier undo.
    fileprivate func restored(_ states: [String: RequestState]) -> [String: RequestState] {
        versions.reduce(into: states) { states, version in
            states[version.key] = state(of: version.key, states[version.key], fingerprint: "")
        }
    }
}
