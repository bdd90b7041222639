import FeedModel
package import FeedStaging
package import FeedStores
import Foundation

/// The promises that every main store makes, as far as they need no SQL.
extension PostgresStore: MainStore {
    package var name: String { description }

    package func claim(_ source: String) throws -> (any SourceClaim)? { try lease(of: source) }

    package func makeWorkerContext(source: String) -> WorkerContext { WorkerContext(store: self, source: source) }

    /// Does nothing: a connection that is lost is an error of the run that uses it, and the next run has another.
    package func checkPlace() {}

    /// Does nothing: the server keeps its files in order by itself.
    package func tidy() {}

    package var workFolder: String { scratch.path }

    /// Removes the scratch databases of processes that are gone. Those of processes that live are kept.
    package func removeAbandonedScratch() throws { try WorkFolder.removeAbandoned(in: scratch.parent) }
}
