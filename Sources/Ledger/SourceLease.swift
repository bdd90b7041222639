import FeedModel
import FeedStores

/// The right to run a source, held by one run in one process at a time.
///
/// A row of `tributary_source` names its holder. It lasts for some seconds, and longer as long as its holder renews it. A
/// run whose lease has gone to another can commit nothing.
package final class SourceLease: SourceClaim {
    let source: String
    private let number: Int64
    private let store: any LeaseStore

    init(_ source: String, number: Int64, in store: any LeaseStore) {
        self.source = source
        self.number = number
        self.store = store
    }

    /// - Throws: `StoreError` if it was not renewed in time.
    package func check() throws {
        guard store.leases.isInForce(source, number) else {
            throw StoreError(
                .unavailable,
                "the lease of '\(source)' could not be renewed in time; another daemon may run it now")
        }
    }

    /// Gives the right up. Nothing happens the second time.
    package func unlock() {
        guard store.leases.remove(source, number) else { return }
        // Where the store cannot be reached, the lease ends by itself within seconds.
        try? store.withLeases(.claim) {
            try $0.sources.release(Lease(holder: store.leases.holder, number: number), of: source)
        }
    }
}
