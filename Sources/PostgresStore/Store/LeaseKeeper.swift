import Foundation
import Ledger
import Locking

/// Renews a store's leases, on a thread that lives as long as there are any.
final class LeaseKeeper: Sendable {
    private let isKeeping = Mutex(false)

    /// To be called after each claim.
    func keep(_ store: PostgresStore) {
        let isFirst = isKeeping.withLock { isKeeping in
            defer { isKeeping = true }
            return !isKeeping
        }
        guard isFirst else { return }
        Thread.detachNewThread { [self] in
            while goesOn(store) {
                // Where the server cannot be reached, the next attempt may. A run whose lease ends commits nothing.
                _ = try? store.renewLeases()
            }
        }
    }

    private func goesOn(_ store: PostgresStore) -> Bool {
        Thread.sleep(forTimeInterval: Leases.secondsBetweenRenewals)
        return isKeeping.withLock { isKeeping in
            isKeeping = !store.leases.sources.isEmpty
            return isKeeping
        }
    }
}
