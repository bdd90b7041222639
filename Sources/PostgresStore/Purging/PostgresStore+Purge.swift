import FeedModel
package import FeedStores
import PostgresClient

extension PostgresStore {
    package func purge(_ purge: Purge, isTrial: Bool) throws -> PurgeReport {
        /// Takes the transaction back.
        struct Trial: Error {}
        var done = PurgeReport(run: purge.commit.report)
        let commit = StackCommit(store: self, interruption: CommitInterruption()) { transaction in
            try self.lockWaits.limit(transaction.connection)
            let run: RecordedRun
            (run, done) = try PostgresPurge(purge: purge, store: self, connection: transaction.connection).run()
            if isTrial { throw Trial() }
            return (run, done.run)
        }
        do { _ = try commit.run() } catch is Trial {}
        return done
    }
}
