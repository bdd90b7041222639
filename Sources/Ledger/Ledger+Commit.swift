import FeedModel
package import FeedStores
package import StoreSQL

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
        return run
    }

    /// Writes the run, the source's state, and what becomes of its permission to exceed the limits.
    private func record(_ commit: Commit, drawn: RecordedRun?) throws -> RecordedRun {
        let source = commit.report.source
        var run = RecordedRun(id: 0, transaction: "", source: source, startedAt: commit.report.startedAt)
        let isWritten: Bool
        if dialect.combinesWrites {
            isWritten =
                try session.first(recording(commit, drawn: drawn)) { row in
                    run.id = try row.int64(0) ?? 0
                    run.transaction = row.string(1) ?? ""
                    return try row.bool(2)
                } ?? false
        } else {
            let insertion = try runs.insertion(commit, drawn: drawn)
            run.id = try session.all(insertion) { try $0.int64(0) }.first.flatMap(\.self) ?? 0
            isWritten = try !session.all(sources.upsert(commit.state)) { $0.string(0) }.isEmpty
            if let change = acceptances.change(commit.acceptance, of: source, run: "\(bind: run.id)") {
                try session.execute(change)
            }
        }
        guard isWritten else { throw StoreError.leaseLost(source) }
        return run
    }

    /// Returns the one statement that records a run where a WITH clause may write. It selects the run's id, the
    /// transaction's, and whether the source's state has been written, under the lease.
    package func recording(_ commit: Commit, drawn: RecordedRun?) throws -> SQLText {
        let insertion = try runs.insertion(commit, drawn: drawn)
        let upsert = try sources.upsert(commit.state)
        let change = acceptances.change(commit.acceptance, of: commit.report.source, run: "(SELECT id FROM run)")
        let use: SQLText = change.map { ", used AS (\($0))" } ?? ""
        return """
            WITH run AS (\(insertion)), state AS (\(upsert))\(use)
            SELECT (SELECT id FROM run), \(dialect.transaction), EXISTS (SELECT 1 FROM state)
            """
    }
}
