import FeedModel

/// A commit's writes to Tributary's own tables.
extension Ledger {
    /// Writes the records of a run, without its rows.
    ///
    /// - Parameter drawn: nil if no id has been drawn before.
    /// - Throws: ``FeedModel/StoreError`` if another process has taken over the source's lease.
    @discardableResult
    package func write(_ commit: Commit, run drawn: RecordedRun? = nil) throws -> RecordedRun {
        let run = try record(commit, drawn: drawn)
        if let host = commit.busyHost {
            try waits.add(origin: host.origin, notBefore: host.notBefore, wait: host.wait)
        }
        try requests.write(commit)
        for statement in try listings.writing(commit) { try session.execute(statement) }
        return run
    }

    /// Writes the run, the source's state, and what becomes of its permission to exceed the limits. A run without a
    /// drawn id may be counted in the row of the run before it.
    private func record(_ commit: Commit, drawn: RecordedRun?) throws -> RecordedRun {
        if drawn == nil, !commit.endsStaleness, let repetition = try runs.repetition(commit.report),
            let run = try record(commit, by: repetition)
        {
            return run
        }
        let run = try record(commit, by: runs.insertion(commit, drawn: drawn))
        guard let run else { throw StoreError(.database, "a run of '\(commit.report.source)' has no id") }
        return run
    }

    /// - Parameter writing: writes the row of the run, and returns its id.
    /// - Returns: nil if the statement has found no row to write.
    private func record(_ commit: Commit, by writing: SQLText) throws -> RecordedRun? {
        let source = commit.report.source
        var run = RecordedRun(id: 0, transaction: "", source: source, startedAt: commit.report.startedAt)
        let isWritten: Bool
        if dialect.combinesWrites {
            isWritten =
                try session.first(recording(commit, by: writing)) { row in
                    run.id = try row.int64(0) ?? 0
                    run.transaction = row.string(1) ?? ""
                    return try row.bool(2)
                } ?? false
        } else {
            run.id = try session.all(writing) { try $0.int64(0) }.first.flatMap(\.self) ?? 0
            guard run.id > 0 else { return nil }
            let upsert = try sources.upsert(commit)
            isWritten = try !session.all(upsert) { $0.string(0) }.isEmpty
            if let change = acceptances.change(commit, run: "\(bind: run.id)") {
                try session.execute(change)
            }
        }
        guard isWritten else { throw StoreError.leaseLost(source) }
        return run.id > 0 ? run : nil
    }

    /// Returns the one statement that records a run where a WITH clause may write. It selects the run's id, the
    /// transaction's, and whether the source's state has been written, under the lease.
    package func recording(_ commit: Commit, drawn: RecordedRun?) throws -> SQLText {
        try recording(commit, by: runs.insertion(commit, drawn: drawn))
    }

    private func recording(_ commit: Commit, by writing: SQLText) throws -> SQLText {
        let upsert = try sources.upsert(commit)
        let change = acceptances.change(commit, run: "(SELECT id FROM run)")
        let use: SQLText = change.map { ", used AS (\($0))" } ?? ""
        return """
            WITH run AS (\(writing)), state AS (\(upsert))\(use)
            SELECT (SELECT id FROM run), \(dialect.transaction), EXISTS (SELECT 1 FROM state)
            """
    }
}
