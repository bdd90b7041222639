import Ledger
import FeedModel
package import FeedStaging
package import FeedStores
import Foundation
import Merging

/// The requirements of a main store that need no SQL.
extension PostgresStore: MainStore {
    package var name: String { description }

    /// The claim of a run that is planned in a space of its own, which needs no lock.
    private struct PlanClaim: SourceClaim {
        func check() {}
        func unlock() {}
    }

    package func claim(_ source: String) throws -> (any SourceClaim)? {
        if planning != nil { return PlanClaim() }
        try scratch.make()
        guard let lease = try lease(of: source) else { return nil }
        leaseKeeper.keep(self)
        return lease
    }

    package func makeWorkerContext(source: String) -> WorkerContext { WorkerContext(store: self, source: source) }

    /// Does nothing: a connection that is lost is an error of the run that uses it, and the next run has another.
    package func checkPlace() {}

    /// Does nothing: the server keeps its files in order by itself.
    package func tidy() {}

    package var workFolder: String { scratch.path }

    /// Removes the scratch databases of processes that are gone. Those of processes that live are kept.
    package func removeAbandonedScratch() throws { try WorkFolder.removeAbandoned(in: scratch.parent) }
}
