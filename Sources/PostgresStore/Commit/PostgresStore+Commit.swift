package import FeedModel
package import FeedStaging
package import FeedStores
import Ledger

/// The one place where the main store's rows are written.
extension PostgresStore {
    /// Merges the staged rows of a run, and records the run, in one transaction. Cancelling the task does not stop a
    /// commit that has begun; `interruption` does.
    ///
    /// - Parameters:
    ///   - stack: nil for a run that has no rows to merge: unchanged, discarded or cancelled.
    ///   - interruption: lets another thread stop the commit.
    ///   - seconds: the run's duration so far, called when the rows have been merged.
    /// - Returns: the report as it was recorded.
    /// - Throws: ``StoreError``; the store is then unchanged.
    package func commit(
        _ commit: Commit, merging stack: StagedStack?, interruption: Interruption,
        seconds: @escaping @Sendable () -> Double
    ) async throws -> RunReport {
        guard let stack else {
            var commit = commit
            commit.report.seconds = seconds()
            try await writeInGroup { [commit, leases] in try $0.ledger(leases).write(commit) }
            return commit.report
        }
        let own = CommitInterruption()
        interruption.onRequest { own.request() }
        defer { interruption.onRequest {} }
        var pending: PendingTurn?
        while true {
            let step = try await commitThreads.run { [pending] () -> Step in
                var whole = self.stackCommit(stack, commit, own, seconds: seconds)
                if let pending {
                    if !pending.isSmall { whole.small = nil }
                    whole.tables = pending.tables
                    whole.pauses = pending.pauses
                }
                do {
                    return .ended(try whole.run(pending?.turn, blocks: false))
                } catch let pending as PendingTurn {
                    return .waits(pending)
                }
            }
            switch step {
            case .ended(let report): return report
            case .waits(let next):
                pending = next
                // No thread waits: a long commit into one table leaves the threads to the commits into others.
                try await next.turn.granted(own)
            }
        }
    }

    private enum Step {
        case ended(RunReport)
        case waits(PendingTurn)
    }

    /// Does the same as ``commit(_:merging:interruption:seconds:)`` on the caller's thread.
    func merge(
        _ stack: StagedStack, with commit: Commit, interruption: Interruption = Interruption(),
        seconds: @escaping () -> Double = { 0 }
    ) throws -> RunReport {
        try CommitInterruption.follow(interruption) {
            try stackCommit(stack, commit, $0, seconds: seconds).run()
        }
    }

    private func stackCommit(
        _ stack: StagedStack, _ commit: Commit, _ interruption: CommitInterruption, seconds: @escaping () -> Double
    ) -> StackCommit {
        StackCommit(
            store: self, interruption: interruption,
            // Whatever is wrong with the stack, the merge says it.
            small: try? SmallCommit(stack, commit, self, seconds: seconds),
            tables: knownTables(stack, commit.mirrors, commit.retention)
        ) { transaction in
            try transaction.record(commit, merging: stack, seconds: seconds)
        }
    }

    /// Returns the tables that a commit writes, as SQL names them, as far as they are known without a query.
    func knownTables(_ stack: StagedStack, _ mirrors: [MirroredRows], _ retention: Retention) -> Set<String> {
        let names = stack.writtenTables + mirrors.map(\.table) + retention.writtenTables
        return Set(tableDetails.knownWithChildren(names).map(\.sql))
    }
}

extension StagedStack {
    /// The names of the tables whose rows may change.
    var writtenTables: [String] {
        parts.filter { $0.counts.rows > 0 || !$0.batches.isEmpty || $0.table.sync == .mirror }.map(\.table.table.name)
    }
}
