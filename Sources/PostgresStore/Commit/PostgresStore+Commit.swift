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
        return try await commitThreads.run {
            try self.merge(stack, with: commit, interruption: interruption, seconds: seconds)
        }
    }

    /// Does the same as ``commit(_:merging:interruption:seconds:)`` on the caller's thread.
    func merge(
        _ stack: StagedStack, with commit: Commit, interruption: Interruption = Interruption(),
        seconds: @escaping () -> Double = { 0 }
    ) throws -> RunReport {
        try CommitInterruption.follow(interruption) { interruption in
            try StackCommit(
                store: self, interruption: interruption,
                // Whatever is wrong with the stack, the merge says it.
                small: try? SmallCommit(stack, commit, self, seconds: seconds)
            ) { transaction in
                try transaction.record(commit, merging: stack, seconds: seconds)
            }.run()
        }
    }
}
