import FeedModel
import FeedStaging
package import FeedStores
import Ledger
import Merging
import PostgresClient

extension PostgresStore {
    package func purge(_ purge: Purge, isTrial: Bool) throws -> PurgeReport {
        /// Takes the transaction back.
        struct Trial: Error {}
        var done = PurgeReport(run: purge.commit.report)
        let commit = StackCommit(store: self, interruption: CommitInterruption()) { transaction in
            let run = try transaction.ledger.runs.draw(purge.commit.report)
            let driver = PostgresMergeDriver(
                transaction.connection, self, StagedStack(path: nil, parts: []), run: run.id)
            done = try PurgeTransaction(purge, driver, driver.ledger, driver.claims).execute(as: run)
            if isTrial { throw Trial() }
            return (run, done.run)
        }
        do { _ = try commit.run() } catch is Trial {}
        return done
    }
}
