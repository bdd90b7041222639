package import FeedModel
package import FeedStores
package import Foundation

/// A main store whose own tables are in a database that ``Ledger`` reads and writes.
package protocol LedgerStore: StoreLedger, StoreChangelog, StoreHooks, StoreHistory {
    /// Reads in one transaction, or with single statements.
    ///
    /// - Throws: the errors of the body; ``FeedModel/StoreError`` where the database cannot be read.
    func readLedger<Value>(_ body: (Ledger) throws -> Value) throws -> Value

    /// Writes in a transaction of its own. A body may be executed twice.
    ///
    /// - Throws: the errors of the body; ``FeedModel/StoreError`` where the database cannot be written.
    func writeLedger<Value>(_ body: (Ledger) throws -> Value) throws -> Value

    /// Writes together with others that wait. A body may be executed twice.
    ///
    /// - Throws: as ``writeLedger(_:)``.
    func writeLedgerInGroup(_ body: @escaping @Sendable (Ledger) throws -> Void) async throws
}

/// The states of sources and requests.
extension LedgerStore {
    package func sourceStates() throws -> [String: SourceState] { try readLedger { try $0.sources.all() } }

    package func sourceState(_ source: String) throws -> SourceState {
        try readLedger { try $0.sources.state(of: source) }
    }

    package func failingSources() throws -> [FailingSource] { try readLedger { try $0.sources.failing() } }

    package func noteAttempt(
        _ source: String, number: Int, wait: Double?, declared: String, now: Date
    ) async throws {
        try await writeLedgerInGroup {
            try $0.sources.recordAttempt(of: source, number: number, wait: wait, declared: declared, now: now)
        }
    }

    package func notePause(_ source: String, error: String, note: String, now: Date) async throws {
        try await writeLedgerInGroup { try $0.sources.recordPause(of: source, error: error, note: note, now: now) }
    }

    package func pause(_ sources: [String], now: Date) throws -> [String] {
        try writeLedger { try $0.sources.pause(sources, now: now) }
    }

    package func resume(_ sources: [String]) throws -> [String] { try writeLedger { try $0.sources.resume(sources) } }

    package func makeDue(_ sources: [String], now: Date) throws {
        try writeLedger { try $0.sources.makeDue(sources, now: now) }
    }

    package func forgetGone(_ sources: [String]) throws {
        guard !sources.isEmpty else { return }
        try writeLedger { try $0.sources.forgetGone(sources) }
    }

    package func busyHosts() throws -> [String: Date] { try readLedger { try $0.waits.busyHosts() } }

    package func cutWaits(of sources: [String]?, to now: Date) throws {
        try writeLedger { try $0.waits.cut(to: now, from: now, of: sources) }
    }

    package func cutWaits(to now: Date, setBackFrom former: Date) async throws {
        try await writeLedgerInGroup { try $0.waits.cut(to: now, from: former) }
    }

    package func accept(_ acceptances: [Acceptance]) throws { try writeLedger { try $0.acceptances.add(acceptances) } }

    package func acceptance(of source: String, at now: Date) throws -> Acceptance? {
        try readLedger { try $0.acceptances.acceptance(of: source, at: now) }
    }

    package func acceptances(at now: Date) throws -> [String: Acceptance] {
        try readLedger { try $0.acceptances.all(at: now) }
    }
}

/// The runs, and their changes.
extension LedgerStore {
    package func runs(of source: String? = nil, failed: Bool = false, limit: Int) throws -> [RunReport] {
        try readLedger { try $0.runs.last(of: source, failed: failed, limit: limit) }
    }

    package func recordedRun(_ number: Int64) throws -> RunReport? { try readLedger { try $0.runs.run(number) } }

    package func blockedRun(of source: String) throws -> RunReport? {
        try readLedger { try $0.runs.blocked(of: source) }
    }

    package func firstRun(of source: String) throws -> Date? {
        try readLedger { try $0.runs.firstBeginning(of: source) }
    }

    package func figures(of source: String, from start: Date, spansOf seconds: Double) throws -> [RunFigures] {
        try readLedger { try $0.runs.figures(of: source, from: start, spansOf: seconds) }
    }

    package func recentRuns(
        of sources: [(name: String, lastCommit: Date?)], limit: Int, changedSince start: Date
    ) throws -> [String: RecentRuns] {
        try readLedger { try $0.runs.recent(of: sources, limit: limit, changedSince: start) }
    }

    package func neighbours(of run: Int64, of source: String) throws -> (previous: Int64?, next: Int64?) {
        try readLedger { try $0.runs.neighbours(of: run, of: source) }
    }

    package func following(_ run: Int64, of source: String) throws -> (refresh: RunReport?, change: Int64?) {
        try readLedger { try $0.runs.following(run, of: source) }
    }

    package func runs(after position: RunPosition, limit: Int, changing: Bool) throws -> [ChangelogRun] {
        try readLedger { try $0.changelog.runs(after: position, limit: limit, changing: changing) }
    }

    package func lastPosition() throws -> RunPosition { try readLedger { try $0.changelog.lastPosition() } }

    package func run(_ id: Int64) throws -> ChangelogRun? { try readLedger { try $0.changelog.run(id) } }

    package func isHeldUp(after position: RunPosition) throws -> Bool {
        try readLedger { try $0.changelog.isDelayed(after: position) }
    }

    package func changes(of run: ChangelogRun, after id: Int64, limit: Int) throws -> [ChangelogEntry] {
        guard let range = run.changes, range.upperBound > id else { return [] }
        return try readLedger {
            try $0.changelog.changes(of: run, after: id, limit: limit, bytes: Self.mostBytesAtOnce)
        }
    }

    package func changelogBounds() throws -> ClosedRange<Int64>? { try readLedger { try $0.changelog.bounds() } }

    package func run(ofChange id: Int64) throws -> Int64? { try readLedger { try $0.changelog.run(ofChange: id) } }
}

/// The runs that can be undone.
extension LedgerStore {
    package func commits(of source: String, after run: Int64) throws -> [CommittedRun] {
        try readLedger { try $0.runs.commits(of: source, after: run) }
    }

    package func hasHistory(run: Int64) throws -> Bool { try readLedger { try $0.runs.hasHistory(run) } }

    package func lastRunWithHistory(of source: String?) throws -> Int64? {
        try readLedger { try $0.runs.lastWithHistory(of: source) }
    }

    package func lastRun(at time: Date) throws -> Int64 { try readLedger { try $0.runs.last(endedBy: time) } }
}

/// The hooks.
extension LedgerStore {
    package func hookStates() throws -> [String: HookState] { try readLedger { try $0.hooks.all() } }

    package func hookState(_ name: String) throws -> HookState? { try readLedger { try $0.hooks.state(of: name) } }

    package func declareHooks(_ names: Set<String>) throws -> [String] {
        let known = Set(try hookStates().keys)
        guard known != names else { return [] }
        return try writeLedger { ledger in
            try ledger.hooks.add(names.subtracting(known))
            return try ledger.hooks.forget(known.subtracting(names))
        }
    }

    package func retryHook(_ name: String) throws -> Bool { try writeLedger { try $0.hooks.retry(name) } }

    package func hookMemories(_ name: String) throws -> [String: HookMemory] {
        try readLedger { try $0.hooks.memories(of: name) }
    }

    package func advanceHook(_ name: String, _ progress: HookProgress) throws {
        try writeLedger { try $0.hooks.advance(name, progress) }
    }

    package func noteFailure(ofHook name: String, _ failure: HookFailure) throws {
        try writeLedger { try $0.hooks.recordFailure(of: name, failure) }
    }
}
