import FeedModel
package import FeedStores
import PostgresClient

extension PostgresStore {
    package func purge(_ purge: Purge, isTrial: Bool) throws -> PurgeReport {
        /// Takes the transaction back.
        struct Trial: Error {
            var report: PurgeReport
        }
        do {
            return try write { connection in
                let report = try PostgresPurge(purge: purge, store: self, connection: connection).run()
                if isTrial { throw Trial(report: report) }
                return report
            }
        } catch let trial as Trial {
            return trial.report
        }
    }
}
